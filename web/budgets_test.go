package web_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

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

// TestTooManyWorkingRuns checks what is told about a run that isn't started, and that
// others still start theirs.
func TestTooManyWorkingRuns(t *testing.T) {
	busy := generators.New("busy", func(ctx context.Context, _ struct{}, _ generators.Yield) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil)
	limits := engine.Limits{Working: budget.Limit{Each: 1, All: 4}}
	s := newConfiguredSite(t, runlog.NewMemory(), limits, func(*web.Config) {}, busy)
	ada, bob, eve := s.newSession(), s.newSession(), s.newSession()
	ada.startRun("busy", "{}")
	expectRefusal(t, ada.requestJSON("POST", "/photons/busy/runs", "{}"), http.StatusTooManyRequests, "one caller may have 1")
	expectRefusal(t, ada.request("POST", "/photons/busy/runs", "", "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"),
		http.StatusTooManyRequests, "Too many runs are working")
	bob.startRun("busy", "{}")
	expectRefusal(t, eve.requestJSON("POST", "/photons/busy/runs", "{}"), http.StatusServiceUnavailable, "allows 4 in all")
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
