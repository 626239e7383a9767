package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web"
)

// TestAThousandFollowers checks that a thousand readers of one run each receive every
// event once and in order, whether they connect before, during or after the run.
func TestAThousandFollowers(t *testing.T) {
	const events = 300
	followers := 1000
	if testing.Short() {
		followers = 60
	}
	talker := generators.New("talker", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		for i := range events / 2 {
			yield(generators.Statusf("event %d", i))
		}
		if _, err := ask.Confirm(yield, "go", "Go on?"); err != nil {
			return "", err
		}
		for i := range events / 2 {
			yield(generators.Statusf("event %d", events/2+i))
		}
		return "done", nil
	}, nil)
	p := newSiteWith(t, func(c *web.Config) { // a stream that its reader has left counts until the server notices
		twice := int64(2 * followers)
		c.Streams = budget.New(budget.Streams, budget.Limit{Each: twice, All: twice})
	}, talker).newSession()
	run := p.startRun("talker", "{}")
	received := p.follow(run.Events, "", isElicitation)

	transport := &http.Transport{MaxConnsPerHost: 0}
	defer transport.CloseIdleConnections()
	p.client.Transport = transport
	var wg sync.WaitGroup
	wrong := make(chan string, followers)
	for i := range followers {
		wg.Go(func() {
			if err := checkAllEvents(p.followAll(run.Events), events); err != nil {
				wrong <- fmt.Sprintf("follower %d: %v", i, err)
			}
		})
		if i == followers/2 {
			expectStatus(t, p.answerRPC(received[len(received)-1].msg.ID, acceptResult(`{"go":true}`)), http.StatusAccepted)
		}
	}
	wg.Wait()
	close(wrong)
	for w := range wrong {
		t.Error(w)
	}
}

// followAll follows a run to its end. A reader that is dropped for being slow, which may
// happen on a busy machine, reconnects as browsers do.
func (p *browserSession) followAll(path string) []event {
	p.t.Helper()
	var all []event
	for after := ""; ; {
		received, _ := p.tryFollow(path, after, nil)
		all = append(all, received...)
		if len(received) > 0 {
			after = received[len(received)-1].id
			if received[len(received)-1].msg.Result != nil {
				return all
			}
		}
	}
}

func checkAllEvents(stream []event, events int) error {
	next := 0
	for _, e := range stream {
		text, ok := e.msg.Params["message"].(string)
		if !ok || !strings.HasPrefix(text, "event ") {
			continue
		}
		if text != fmt.Sprintf("event %d", next) {
			return fmt.Errorf("got %q, want event %d", text, next)
		}
		next++
	}
	if last := stream[len(stream)-1]; next != events || last.msg.Result == nil {
		return fmt.Errorf("%d of %d events, and then %+v", next, events, last.msg)
	}
	return nil
}

// TestHostileToolsLeaveOthersAlone checks that a misbehaving photon doesn't affect other
// runs.
func TestHostileToolsLeaveOthersAlone(t *testing.T) {
	endless := generators.New("endless-talk", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		for yield(generators.Status("and another thing")) {
		}
		return "", nil
	}, nil)
	huge := generators.New("huge", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.Status(strings.Repeat("x", 10<<20)))
		return "said", nil
	}, nil)
	crash := generators.New("crash", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
		generators.Go(yield, func(context.Context, generators.Yield) { panic("<script>alert(1)</script>") })
		<-ctx.Done()
		return "", ctx.Err()
	}, nil)
	stubborn := make(chan struct{})
	deaf := generators.New("deaf", func(context.Context, struct{}, generators.Yield) (string, error) {
		<-stubborn
		return "", nil
	}, nil)
	defer close(stubborn)
	maxEvents := 250_000 // the default
	if testing.Short() {
		maxEvents = 10_000
	}
	p := newLimitedSite(t, runlog.NewMemory(), engine.Limits{MaxEvents: maxEvents}, "", endless, huge, crash, deaf).newSession()

	bystander := p.startRun("wizard", "{}")
	received := p.follow(bystander.Events, "", isElicitation)
	for name, want := range map[string]string{"endless-talk": fmt.Sprintf("%d events", maxEvents), "huge": "said", "crash": "panicked"} {
		after := "0"
		if name == "endless-talk" {
			after = fmt.Sprint(maxEvents - 1000) // the rest is as the end
		}
		all := p.follow(p.startRun(name, "{}").Events, after, nil)
		last := string(mustMarshal(all[len(all)-1].msg.Result))
		if !strings.Contains(last, want) || strings.Contains(last, "script") {
			t.Errorf("%s ended with %.300s", name, last)
		}
	}
	silent := p.startRun("deaf", "{}")
	expectStatus(t, p.request("POST", silent.URL+"/cancel", ""), http.StatusAccepted)
	all := p.follow(silent.Events, "", nil)
	if !strings.Contains(string(mustMarshal(all[len(all)-1].msg.Result)), `"stopped"`) {
		t.Errorf("a deaf tool was not stopped: %+v", all[len(all)-1])
	}
	expectStatus(t, p.answerRPC(received[len(received)-1].msg.ID, acceptResult(`{"name":"Ada"}`)), http.StatusAccepted)
}
