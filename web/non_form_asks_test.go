package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// newAskPhoton returns a photon that asks one question and returns the answer.
func newAskPhoton[T any](name string, fn func(generators.Yield) (T, error)) *generators.Photon {
	return generators.New(name, func(_ context.Context, _ struct{}, yield generators.Yield) (map[string]any, error) {
		v, err := fn(yield)
		return map[string]any{"got": v}, err
	}, nil)
}

var nonFormPhotons = []*generators.Photon{
	newAskPhoton("sampler", func(y generators.Yield) (string, error) {
		r, err := ask.Sample(y, "k", ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Sum <up>"))}, MaxTokens: 50})
		return r.Model + ": " + r.Text(), err
	}),
	newAskPhoton("rooter", func(y generators.Yield) (any, error) {
		roots, err := ask.Roots(y, "k")
		if len(roots) == 1 {
			return roots[0].URI, err
		}
		return len(roots), err
	}),
	newAskPhoton("opener", func(y generators.Yield) (string, error) {
		return "done", ask.URL(y, "k", "Sign in", "https://example.com/login", ask.UntilDone())
	}),
}

// startAndReadRequest starts a photon and returns its run and its first request.
func (p *browserSession) startAndReadRequest(photon, method string) (startedRun, message) {
	p.t.Helper()
	run := p.startRun(photon, "{}")
	received := p.follow(run.Events, "", func(e event) bool { return e.msg.Method == method })
	return run, received[len(received)-1].msg
}

// runResult returns the result of a run, or its error.
func (p *browserSession) runResult(run startedRun) any {
	p.t.Helper()
	all := p.follow(run.Events, "", nil)
	last := all[len(all)-1].msg.Result
	if structured, ok := last["structuredContent"].(map[string]any); ok {
		return structured["got"]
	}
	raw, _ := json.Marshal(last["content"])
	return string(raw)
}

func TestAModelIsAskedOverHTTP(t *testing.T) {
	p := newSite(t, "", nonFormPhotons...).newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	if q.Params["maxTokens"] != 50.0 || q.Params["messages"] == nil {
		t.Errorf("the request is %+v", q.Params)
	}
	expectStatus(t, p.answerRPC(q.ID, map[string]any{"role": "assistant", "model": "m"}), http.StatusUnprocessableEntity)
	expectStatus(t, p.answerRPC(q.ID, "hello"), http.StatusBadRequest)
	said := map[string]any{"role": "assistant", "model": "m-1", "content": map[string]any{"type": "text", "text": "Short."}}
	expectStatus(t, p.answerRPC(q.ID, said), http.StatusAccepted)
	if got := p.runResult(run); got != "m-1: Short." {
		t.Errorf("the run got %v", got)
	}

	run, q = p.startAndReadRequest("sampler", "sampling/createMessage")
	expectStatus(t, p.answerRPC(q.ID, map[string]any{"action": "decline"}), http.StatusAccepted)
	if got := p.runResult(run).(string); !strings.Contains(got, "declined") {
		t.Errorf("the run got %v", got)
	}

	run, q = p.startAndReadRequest("sampler", "sampling/createMessage")
	rejected := `{"jsonrpc":"2.0","id":"` + q.ID + `","error":{"code":-1,"message":"User rejected sampling request"}}`
	expectStatus(t, p.requestJSON("POST", "/mcp/request", rejected), http.StatusAccepted)
	if got := p.runResult(run).(string); !strings.Contains(got, "declined") {
		t.Errorf("rejected, the run got %v", got)
	}
}

func TestAPersonPlaysTheModel(t *testing.T) {
	p := newSite(t, "", nonFormPhotons...).newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	page := readText(t, p.request("GET", "/asks/"+q.ID, "", "Accept", "text/html"))
	if !strings.Contains(page, "Sum &lt;up&gt;") || !strings.Contains(page, "At most 50 tokens.") {
		t.Errorf("the page is %s", page)
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	expectStatus(t, p.request("POST", "/mcp/request?ask="+q.ID+"&action=accept", "text=+", form...), http.StatusUnprocessableEntity)
	expectStatus(t, p.request("POST", "/mcp/request?ask="+q.ID+"&action=accept", "text=Mine", form...), http.StatusAccepted)
	if got := p.runResult(run); got != "a person: Mine" {
		t.Errorf("the run got %v", got)
	}
	if page := readText(t, p.request("GET", run.URL, "", "Accept", "text/html")); !strings.Contains(page, ">Mine<") {
		t.Error("the timeline doesn't show the answer")
	}
}

func TestRootsOverHTTP(t *testing.T) {
	p := newSite(t, "", nonFormPhotons...).newSession()
	run, q := p.startAndReadRequest("rooter", "roots/list")
	expectStatus(t, p.answerRPC(q.ID, map[string]any{"roots": []any{map[string]any{"uri": "https://x"}}}), http.StatusUnprocessableEntity)
	expectStatus(t, p.answerRPC(q.ID, map[string]any{"roots": []any{}}), http.StatusAccepted)
	if got := p.runResult(run); got != 0.0 {
		t.Errorf("the run got %v", got)
	}
	run, q = p.startAndReadRequest("rooter", "roots/list")
	expectStatus(t, p.request("POST", "/mcp/request?ask="+q.ID+"&action=accept", "roots=%2Fhome%2Fada%0D%0A", "Content-Type", "application/x-www-form-urlencoded"), http.StatusAccepted)
	if got := p.runResult(run); got != "file:///home/ada" {
		t.Errorf("the run got %v", got)
	}
}

// Accepting a URL is consent; the person confirms completion on Beam's page.
func TestAnAddressIsOpenUntilTheyAreDone(t *testing.T) {
	p := newSite(t, "", nonFormPhotons...).newSession()
	run, q := p.startAndReadRequest("opener", "elicitation/create")
	if q.Params["url"] != p.URL+"/asks/"+q.ID {
		t.Errorf("the request is %+v", q.Params)
	}
	expectStatus(t, p.answerRPC(q.ID, map[string]any{"action": "accept"}), http.StatusAccepted)
	expectStatus(t, p.answerRPC(q.ID, acceptResult("{}")), http.StatusAccepted)
	page := readText(t, p.request("GET", "/asks/"+q.ID, "", "Accept", "text/html"))
	if !strings.Contains(page, "https://example.com/login") || !strings.Contains(page, ">Done<") {
		t.Errorf("the page is %s", page)
	}
	expectStatus(t, p.request("POST", "/mcp/request?ask="+q.ID+"&action=accept", "", "Content-Type", "application/x-www-form-urlencoded"), http.StatusAccepted)
	if got := p.runResult(run); got != "done" {
		t.Errorf("the run got %v", got)
	}
}
