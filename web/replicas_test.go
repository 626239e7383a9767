package web_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web"
)

// testReplica is a replica of which only what pages show is there.
type testReplica struct {
	sharing.Replica
	peers []sharing.Peer
}

func (r *testReplica) ID() string                         { return "me" }
func (r *testReplica) Holds(context.Context, string) bool { return false }
func (r *testReplica) Peers() []sharing.Peer              { return r.peers }
func (r *testReplica) LeaseAge() time.Duration            { return time.Second }
func (r *testReplica) Heads(context.Context, []string) (map[string]uint64, error) {
	return map[string]uint64{"held0000": 2, "lost0000": 2, "left0000": 2}, nil
}

// newSharedSite returns the site of a replica, with a run that it holds, and two of another one that is
// gone: of a photon that is still there, and of one that isn't.
func newSharedSite(t *testing.T, peers ...sharing.Peer) *site {
	t.Helper()
	rows := runlist.NewMemory(runlog.NewMemory(), nil)
	for _, r := range []struct{ id, photon, worker string }{{"held0000", "kitchensink", "me"}, {"left0000", "kitchensink", "other"}, {"lost0000", "vanished", "other"}} {
		start := runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: r.photon, Title: r.photon, Durable: true})
		if _, err := rows.Append(t.Context(), r.id, 0, start, runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1, Worker: r.worker})); err != nil {
			t.Fatal(err)
		}
	}
	return newSiteWith(t, func(c *web.Config) {
		c.Engine = engine.New(engine.Options{Photons: c.Photons, Log: rows, Ephemeral: true, Replica: &testReplica{peers: peers}})
	})
}

var (
	thisReplica  = sharing.Peer{ID: "me", Self: true, Joined: time.Now(), Seen: time.Now(), About: sharing.About{Host: "here", PID: 12, Program: "p", Version: "v1", Photons: []string{"kitchensink"}}}
	otherReplica = sharing.Peer{ID: "other", Gone: true, Joined: time.Now(), Seen: time.Now(), About: sharing.About{Host: "there", PID: 34, Program: "q", Version: "v0", Photons: []string{"vanished"}}}
)

func TestReplicas(t *testing.T) {
	p := newSharedSite(t, thisReplica, otherReplica).newSession()
	p.signIn()
	html := func(path string) string {
		t.Helper()
		res := p.request("GET", path, "", "Accept", "text/html")
		expectStatus(t, res, http.StatusOK)
		return readText(t, res)
	}
	for path, texts := range map[string][]string{
		"/replicas":      {"there", "Gone", "Alive", "another one", "2 unfinished runs belong to no replica", `href="/runs?tool=vanished"`, "No replica that is alive has this photon."},
		"/settings":      {`href="/replicas"`},
		"/find?q=repl":   {`href="/replicas"`},
		"/runs/held0000": {"held by here, process 12<"},
		"/runs/lost0000": {"held by there, process 34, which is gone"},
	} {
		page := html(path)
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q", path, text)
			}
		}
	}
	got := decodeJSON[sharing.Status](t, p.requestJSON("GET", "/replicas", ""))
	if len(got.Replicas) != 2 || got.Replicas[0].Held != 1 || got.Replicas[1].Held != 2 || !got.Replicas[1].Gone || got.Replicas[1].SameProgram || got.Adrift != 2 ||
		!slices.Equal(got.Unclaimable, []sharing.Unclaimable{{Photon: "vanished", Runs: 1}}) {
		t.Errorf("got %+v", got)
	}
	if i := decodeJSON[engine.Info](t, p.requestJSON("GET", "/runs/held0000", "")); i.Replica == nil || *i.Replica != (sharing.Holder{ID: "me", Host: "here", PID: 12}) {
		t.Errorf("the run is held by %+v", i.Replica)
	}
}

// The page says that there is no other replica. It is for operators, and only where the store is shared.
func TestOneReplica(t *testing.T) {
	s := newSharedSite(t, thisReplica)
	p := s.newSession()
	for _, path := range []string{"/replicas", "/updates?page=replicas"} {
		expectStatus(t, p.requestJSON("GET", path, ""), http.StatusForbidden)
	}
	if page := readText(t, p.request("GET", "/settings", "", "Accept", "text/html")); strings.Contains(page, "/replicas") {
		t.Error("the settings link to them")
	}
	p.signIn()
	if page := readText(t, p.request("GET", "/replicas", "", "Accept", "text/html")); !strings.Contains(page, "This is the only replica.") {
		t.Error("the page doesn't say that it is the only one")
	}
	alone := newSite(t, "").newSession()
	alone.signIn()
	expectStatus(t, alone.requestJSON("GET", "/replicas", ""), http.StatusNotFound)
	expectStatus(t, alone.requestJSON("GET", "/updates?page=replicas", ""), http.StatusBadRequest)
	if page := readText(t, alone.request("GET", "/settings", "", "Accept", "text/html")); strings.Contains(page, "/replicas") {
		t.Error("the settings link to them")
	}
}
