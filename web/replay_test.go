package web_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// newTrip returns a photon that asks for a day, a secret, a confirmation and a seat. Book,
// the key and text of the confirmation, is what a later version of it may ask.
func newTrip(book *[2]string) *generators.Photon {
	type input struct {
		Traveler string `json:"traveler"`
		From     string `json:"from,omitempty"`
	}
	return generators.New("trip", func(_ context.Context, in input, yield generators.Yield) (string, error) {
		day, err := ask.Text(yield, "day", "Which day?")
		if err != nil {
			return "", err
		}
		if _, err := ask.Secret(yield, "card", "Card number?"); err != nil {
			return "", err
		}
		if ok, err := ask.Confirm(yield, book[0], book[1]); err != nil || !ok {
			return "", err
		}
		seat, err := ask.Text(yield, "seat", "Which seat?")
		return in.Traveler + " " + day + " " + seat, err
	}, nil)
}

// bookTrip runs the photon to its end.
func bookTrip(p *browserSession, args string) startedRun {
	run := p.startRun("trip", args)
	p.answerForm(p.waitForAsk(run, 1), "day", "Monday")
	p.answerForm(p.waitForAsk(run, 2), "card", "4111 1111")
	p.answerForm(p.waitForAsk(run, 3), "book", "true")
	p.answerForm(p.waitForAsk(run, 4), "seat", "12A")
	readText(p.t, p.request("GET", run.Events, ""))
	return run
}

func (p *browserSession) replay(run startedRun, form string) startedRun {
	p.t.Helper()
	return decodeJSON[startedRun](p.t, p.requestJSON("POST", run.URL+"/replay", form, "Content-Type", "application/x-www-form-urlencoded"))
}

// openAsks returns the keys of the questions that a run waits for.
func (p *browserSession) openAsks(run startedRun) string {
	info := decodeJSON[struct{ Asks []struct{ Key string } }](p.t, p.requestJSON("GET", run.URL, ""))
	var keys []string
	for _, a := range info.Asks {
		keys = append(keys, a.Key)
	}
	return strings.Join(keys, " ")
}

// A replay gets the recorded answers up to the chosen step, but for secrets, and asks the
// rest.
func TestReplayUpToAStep(t *testing.T) {
	book := [2]string{"book", "Book it?"}
	p := newSite(t, "", newTrip(&book)).newSession()
	run := bookTrip(p, `{"traveler":"Ada"}`)
	again := p.replay(run, "until=7") // the confirmation
	if asks := p.waitForAsk(again, 2); p.openAsks(again) != "card" {
		t.Fatalf("the replay waits for %s (%s), not for the secret alone", p.openAsks(again), asks)
	}
	p.answerForm(p.waitForAsk(again, 2), "card", "4222 2222")
	p.waitForAsk(again, 4)
	if open := p.openAsks(again); open != "seat" {
		t.Fatalf("the replay waits for %s, not for the seat alone", open)
	}
	html := p.page(again.URL)
	for _, want := range []string{"with the recorded answers of", "as in an earlier run", "Monday", "Ada"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page doesn't say %q", want)
		}
	}
	if strings.Contains(html, "differs") {
		t.Error("the page says that the run differs")
	}
	p.answerForm(p.waitForAsk(again, 4), "seat", "1B")
	if result := readText(t, p.request("GET", again.Events, "")); !strings.Contains(result, "Ada Monday 1B") {
		t.Errorf("the replay told %s", result)
	}
}

// Who agreed to what can't be undone agreed once: a replay asks again, and repeats a refusal.
// A repeated request starts no second replay.
func TestReplayAsksAgainWhatCannotBeUndone(t *testing.T) {
	wipe := generators.New("wipe", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		for _, key := range []string{"disk", "backup"} {
			if _, err := ask.Confirm(yield, key, "Wipe it?", ask.Destructive()); err != nil && !errors.Is(err, ask.ErrDeclined) {
				return "", err
			}
		}
		name, err := ask.Text(yield, "name", "Who wipes?")
		return "wiped by " + name, err
	}, nil)
	p := newSite(t, "", wipe).newSession()
	run := p.startRun("wipe", "{}")
	expectStatus(t, p.postForm("/mcp/request?ask="+p.waitForAsk(run, 1)+"&action=decline", nil), http.StatusSeeOther)
	p.answerForm(p.waitForAsk(run, 2), "backup", "true")
	p.answerForm(p.waitForAsk(run, 3), "name", "Ada")
	readText(t, p.request("GET", run.Events, ""))
	replay := func() startedRun {
		return decodeJSON[startedRun](t, p.requestJSON("POST", run.URL+"/replay", "", "Content-Type", "application/x-www-form-urlencoded", "Idempotency-Key", "once"))
	}
	again := replay()
	if id := replay().ID; id != again.ID {
		t.Error("a repeated request started a second replay")
	}
	backup := p.waitForAsk(again, 2)
	if open := p.openAsks(again); open != "backup" {
		t.Fatalf("the replay waits for %q, not for what was agreed to and can't be undone", open)
	}
	p.answerForm(backup, "backup", "true")
	if result := readText(t, p.request("GET", again.Events, "")); !strings.Contains(result, "wiped by Ada") {
		t.Errorf("the replay told %s", result)
	}
}

// A replay that asks something else says which call differs, and asks it and all that
// follow.
func TestReplayThatDiffers(t *testing.T) {
	for _, tt := range []struct {
		book [2]string
		want string
	}{
		{[2]string{"book", "Book first class?"}, "This call, &#34;book&#34;, differs: run "},
		{[2]string{"reserve", "Book it?"}, "This call, &#34;reserve&#34; (confirm), differs: run "},
	} {
		book := [2]string{"book", "Book it?"}
		p := newSite(t, "", newTrip(&book)).newSession()
		run := bookTrip(p, `{"traveler":"Ada"}`)
		book = tt.book
		again := p.replay(run, "")
		p.answerForm(p.waitForAsk(again, 2), "card", "4222 2222")
		confirmation := p.waitForAsk(again, 3)
		if open := p.openAsks(again); open != tt.book[0] {
			t.Fatalf("the replay waits for %s", open)
		}
		if html := p.page(again.URL); !strings.Contains(html, tt.want) {
			t.Errorf("the page doesn't say %q", tt.want)
		}
		p.answerForm(confirmation, tt.book[0], "true")
		p.waitForAsk(again, 4)
		if open := p.openAsks(again); open != "seat" {
			t.Errorf("after the question that differs, the replay waits for %q", open)
		}
	}
}

// A run is edited and run again, however large its input is, by those who may see it.
func TestEditARun(t *testing.T) {
	book := [2]string{"book", "Book it?"}
	s := newSite(t, "", newTrip(&book))
	p := s.newSession()
	traveler := strings.Repeat("Ada ", 5000) + "Lovelace"
	run := p.startRun("trip", `{"traveler":"`+traveler+`","from":"Oslo"}`)
	p.waitForAsk(run, 1)
	expectStatus(t, p.request("POST", run.URL+"/cancel", ""), http.StatusAccepted)
	readText(t, p.request("GET", run.Events, ""))
	address := "/photons/trip?beam%3Afrom=" + run.ID
	if html := p.page(run.URL); !strings.Contains(html, `href="`+address+`"`) {
		t.Error("the run's page doesn't lead to the form with its input")
	}
	if html := p.page(address); !strings.Contains(html, traveler) || !strings.Contains(html, "Oslo") {
		t.Error("the form isn't filled in with the run's input")
	}
	expectStatus(t, p.requestJSON("GET", "/photons/countdown?beam%3Afrom="+run.ID, ""), http.StatusOK) // JSON has no form
	expectStatus(t, p.request("GET", "/photons/countdown?beam%3Afrom="+run.ID, ""), http.StatusBadRequest)
	other := s.newSession()
	expectStatus(t, other.request("GET", address, ""), http.StatusForbidden)
	expectStatus(t, other.requestJSON("POST", run.URL+"/replay", "", "Content-Type", "application/x-www-form-urlencoded"), http.StatusForbidden)
	expectStatus(t, p.requestJSON("POST", run.URL+"/replay", "until=x", "Content-Type", "application/x-www-form-urlencoded"), http.StatusBadRequest)
}
