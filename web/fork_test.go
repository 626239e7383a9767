package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// newParcel returns a photon with a step, a question and another step, and counts its steps.
func newParcel(steps *atomic.Int64) *generators.Photon {
	type input struct {
		To string `json:"to"`
	}
	return generators.New("parcel", func(_ context.Context, in input, yield generators.Yield) (string, error) {
		step := func(key string) {
			_, _ = generators.Step(yield, key, func(context.Context) (int64, error) { return steps.Add(1), nil })
		}
		step("pack")
		name, err := ask.Text(yield, "name", "Who sends it?")
		step("send")
		return "from " + name + " to " + in.To, err
	}, &generators.Options{Durable: true})
}

type forkedRun struct {
	ForkOf    string
	ForkUntil uint64
	Forks     []string
}

// A run is forked over HTTP, with the same input and another one, and both runs name each other.
func TestFork(t *testing.T) {
	var steps atomic.Int64
	s := newSite(t, "", newParcel(&steps))
	p := s.newSession()
	run := p.startRun("parcel", `{"to":"Oslo"}`)
	p.answerForm(p.waitForAsk(run, 1), "name", "Ada")
	readText(t, p.request("GET", run.Events, ""))

	fork := func(body, mediaType string) (startedRun, string) {
		t.Helper()
		forked := decodeJSON[startedRun](t, p.requestJSON("POST", run.URL+"/fork", body, "Content-Type", mediaType))
		return forked, readText(t, p.request("GET", forked.Events, ""))
	}
	const form = "application/x-www-form-urlencoded"
	all, result := fork("", form)
	if !strings.Contains(result, "from Ada to Oslo") || steps.Load() != 2 {
		t.Errorf("the fork told %s after %d steps", result, steps.Load())
	}
	other, result := fork("until=4&input="+url.QueryEscape(`{"to":"Rome"}`), form)
	if !strings.Contains(result, "from Ada to Rome") || steps.Load() != 3 {
		t.Errorf("the fork told %s after %d steps", result, steps.Load())
	}
	asJSON, result := fork(`{"until":4,"input":{"to":"Bern"}}`, "application/json")
	if !strings.Contains(result, "from Ada to Bern") || steps.Load() != 4 {
		t.Errorf("the fork told %s after %d steps", result, steps.Load())
	}
	source := decodeJSON[forkedRun](t, p.requestJSON("GET", run.URL, ""))
	if want := []string{all.ID, other.ID, asJSON.ID}; !slices.Equal(source.Forks, want) || source.ForkOf != "" {
		t.Errorf("the run says %+v, want the forks %v", source, want)
	}
	if info := decodeJSON[forkedRun](t, p.requestJSON("GET", other.URL, "")); info.ForkOf != run.ID || info.ForkUntil != 4 || info.Forks != nil {
		t.Errorf("the fork says %+v", info)
	}
	html := p.page(run.URL)
	for _, want := range []string{"Forked as", `href="` + all.URL + `"`, "Fork from here", `href="/photons/parcel?beam%3Afrom=` + run.ID + `&amp;beam%3Auntil=3"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the run's page doesn't say %q", want)
		}
	}
	html = p.page(other.URL)
	for _, want := range []string{"as a fork of", `href="` + run.URL + `"`, "at its entry 4", "as in an earlier run"} {
		if !strings.Contains(html, want) {
			t.Errorf("the fork's page doesn't say %q", want)
		}
	}
}

// What is wrong with a fork is told as with a start.
func TestForkRefused(t *testing.T) {
	var steps atomic.Int64
	s := newSite(t, "", newParcel(&steps))
	p := s.newSession()
	run := p.startRun("parcel", `{"to":"Oslo"}`)
	p.waitForAsk(run, 1)
	const form, asJSON = "application/x-www-form-urlencoded", "application/json"
	for _, tt := range []struct {
		body, mediaType string
		status          int
	}{
		{"until=x", form, http.StatusBadRequest},
		{"input={", form, http.StatusBadRequest},
		{"input=" + url.QueryEscape(`{"to":3}`), form, http.StatusUnprocessableEntity},
		{`{"input":{}}`, asJSON, http.StatusUnprocessableEntity},
		{`{"until":1.5}`, asJSON, http.StatusBadRequest},
		{`{"until":99}`, asJSON, http.StatusBadRequest},
		{`[]`, asJSON, http.StatusBadRequest},
	} {
		resp := p.requestJSON("POST", run.URL+"/fork", tt.body, "Content-Type", tt.mediaType)
		if resp.StatusCode != tt.status {
			t.Errorf("%s got %s", tt.body, resp.Status)
		}
		text := readText(t, resp)
		var body struct {
			Error struct{ Fields []struct{ Path string } }
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil || tt.status == http.StatusUnprocessableEntity && len(body.Error.Fields) == 0 {
			t.Errorf("%s got %s", tt.body, text)
		}
	}
	expectStatus(t, s.newSession().requestJSON("POST", run.URL+"/fork", "", "Content-Type", form), http.StatusForbidden)
	expectStatus(t, p.postForm(run.URL+"/fork", url.Values{"until": {"3"}}), http.StatusSeeOther)
}

// The photon's form forks a run with other input.
func TestForkFromTheForm(t *testing.T) {
	var steps atomic.Int64
	p := newSite(t, "", newParcel(&steps)).newSession()
	run := p.startRun("parcel", `{"to":"Oslo"}`)
	p.answerForm(p.waitForAsk(run, 1), "name", "Ada")
	readText(t, p.request("GET", run.Events, ""))
	html := p.page("/photons/parcel?beam%3Afrom=" + run.ID + "&beam%3Auntil=4")
	for _, want := range []string{`name="beam:fork" value="` + run.ID + `"`, `name="beam:until" value="4"`, "Oslo"} {
		if !strings.Contains(html, want) {
			t.Errorf("the form doesn't have %q", want)
		}
	}
	posted := url.Values{"beam:fork": {run.ID}, "beam:until": {"4"}}
	if resp := p.postForm("/photons/parcel/runs", posted); resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(readText(t, resp), `name="beam:fork"`) {
		t.Errorf("a form that isn't filled in got %s", resp.Status)
	}
	posted.Set("to", "Rome")
	resp := p.postForm("/photons/parcel/runs", posted)
	expectStatus(t, resp, http.StatusSeeOther)
	if result := readText(t, p.request("GET", resp.Header.Get("Location")+"/events", "")); !strings.Contains(result, "from Ada to Rome") || steps.Load() != 3 {
		t.Errorf("the fork told %s after %d steps", result, steps.Load())
	}
}
