package web_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web"
)

// expectRefusal checks a response to a request that a budget doesn't allow.
func expectRefusal(t *testing.T, r *http.Response, status int, text string) {
	t.Helper()
	body, _ := io.ReadAll(r.Body)
	if r.StatusCode != status || r.Header.Get("Retry-After") == "" || !strings.Contains(string(body), text) {
		t.Errorf("got %s, Retry-After %q and %s; want %d and %q", r.Status, r.Header.Get("Retry-After"), body, status, text)
	}
}

// TestTooManyWorkingRuns checks what is told about a run that isn't started, once it has
// waited for its turn, and that others still start theirs.
func TestTooManyWorkingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := generators.New("busy", func(ctx context.Context, _ struct{}, _ generators.Yield) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, nil)
		e, photons := newEngineWith(t, func(o *engine.Options) { o.Limits.Working = budget.Limit{Each: 1, All: 4} }, busy)
		s := newInProcessSite(t, e, photons, web.Config{})
		ada, bob, eve := s.newSession(), s.newSession(), s.newSession()
		began := time.Now()
		ada.startRun("busy", "{}")
		expectRefusal(t, ada.requestJSON("POST", "/photons/busy/runs", "{}"), http.StatusTooManyRequests, "one caller may have 1")
		expectRefusal(t, ada.request("POST", "/photons/busy/runs", "", "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"),
			http.StatusTooManyRequests, "Too many runs are working")
		bob.startRun("busy", "{}")
		expectRefusal(t, eve.requestJSON("POST", "/photons/busy/runs", "{}"), http.StatusServiceUnavailable, "allows 4 in all")
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("two that wait take %s", took)
		}
	})
}

// TestBurst starts many more runs at once than may work, and answers their questions at
// once: nothing is refused, because they work one after the other.
func TestBurst(t *testing.T) {
	const each, all = 100, 390 // as 500 and 1,950
	work := func() { <-time.After(20 * time.Millisecond) }
	brief := generators.New("brief", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		work()
		ok, err := ask.Confirm(yield, "go", "Go on?")
		work()
		return ok, err
	}, nil)
	limits := engine.Limits{Working: budget.Limit{Each: each, All: 2 * each}}
	s := newConfiguredSite(t, runlog.NewMemory(), limits, func(*web.Config) {}, brief)
	ada := s.newSession()
	ada.request("GET", "/", "")
	atOnce := func(what string, status int, send func(i int) *http.Response) []*http.Response {
		t.Helper()
		responses, refused := make([]*http.Response, all), 0
		var senders sync.WaitGroup
		for i := range all {
			senders.Go(func() { responses[i] = send(i) })
		}
		senders.Wait()
		for _, r := range responses {
			if r.StatusCode != status {
				refused++
			}
		}
		if refused > 0 {
			t.Fatalf("%d of %d %s are refused", refused, all, what)
		}
		return responses
	}
	var asks []string
	for _, r := range atOnce("starts", http.StatusCreated, func(int) *http.Response { return ada.requestJSON("POST", "/photons/brief/runs", "{}") }) {
		events := ada.follow(decodeJSON[startedRun](t, r).Events, "", isElicitation)
		asks = append(asks, events[len(events)-1].msg.ID)
	}
	atOnce("answers", http.StatusAccepted, func(i int) *http.Response { return ada.answerRPC(asks[i], acceptResult(`{"go":true}`)) })
	if refused := s.engine.Budgets()[0].Usage().Refused; refused != (budget.Refusals{}) {
		t.Errorf("counted as refused: %+v", refused)
	}
}

// TestTooManyStreams checks that a caller with too many streams gets no more, that its pages
// poll, and that others have theirs.
func TestTooManyStreams(t *testing.T) {
	s := newSiteWith(t, func(c *web.Config) { c.Streams = budget.New(budget.Streams, budget.Limit{Each: 1, All: 10}) })
	ada, bob := s.newSession(), s.newSession()
	run := ada.startRun("wizard", "{}")
	_, leave := ada.openStream(run.Events, "")
	expectRefusal(t, ada.request("GET", run.Events, "", "Accept", "text/event-stream"), http.StatusTooManyRequests, "Too many streams and calls are open")
	expectRefusal(t, ada.request("GET", "/runs/"+run.ID+"/log", ""), http.StatusTooManyRequests, "Too many streams and calls are open")
	page := ada.request("GET", "/updates?page=runs", "", "Datastar-Request", "true")
	if body, _ := io.ReadAll(page.Body); page.StatusCode != http.StatusOK || !strings.Contains(string(body), "_reconnecting") {
		t.Errorf("the page's stream is %s %s", page.Status, body)
	}
	_, leaveOther := bob.openStream(bob.startRun("wizard", "{}").Events, "")
	leaveOther()
	leave()
}
