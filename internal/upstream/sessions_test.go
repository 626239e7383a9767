package upstream_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// session returns a client with a session, and the function that ends it.
func session(id string) (c *clientsession.Client, end func()) {
	ended := make(chan struct{})
	return &clientsession.Client{Session: id, Ended: ended}, func() { close(ended) }
}

// startFrom starts a run from a client.
func (g *gateway) startFrom(who generators.Caller, c *clientsession.Client, photon, args string) string {
	g.t.Helper()
	info, err := g.Engine.Start(g.t.Context(), who, engine.StartRequest{Photon: photon, Args: json.RawMessage(args), Surface: "test", Client: c})
	if err != nil {
		g.t.Fatal(err)
	}
	return info.ID
}

// pidFor returns the process that serves a client's calls.
func (g *gateway) pidFor(who generators.Caller, c *clientsession.Client) string {
	g.t.Helper()
	return g.textOf(who, g.startFrom(who, c, "up__pid", "{}"))
}

// textOf waits for a run's end and returns its result.
func (g *gateway) textOf(who generators.Caller, id string) string {
	g.t.Helper()
	f, err := runlog.Decode[runlog.Finished](g.await(who, id, runlog.KindFinished))
	if err != nil || f.Status != runlog.Completed {
		g.t.Fatalf("the run is %s: %s, %v", f.Status, f.Error, err)
	}
	return string(f.Result)
}

// Over stdio, each session of a person's clients has a process of its own, so that a question
// is asked in the client whose call it belongs to. A session that has ended leaves its process
// to the person's next.
func TestSessionsHaveProcesses(t *testing.T) {
	g := newGateway(t, child(t, "up", ""))
	first, endFirst := session("1")
	second, endSecond := session("2")
	defer endSecond()
	one, two := g.pidFor(ada, first), g.pidFor(ada, second)
	if one == two {
		t.Error("two sessions share a process")
	}
	if again := g.pidFor(ada, first); again != one {
		t.Error("a session gets another process for its next call")
	}
	if others := g.pidFor(grace, nil); others == one || others == two {
		t.Error("two people share a process")
	}

	// The newest call is not the one that asks.
	asking := g.startFrom(ada, first, "up__ask", "{}")
	g.awaitAsk(ada, asking)
	slow := g.startFrom(ada, second, "up__ask", "{}")
	askID, _ := g.awaitAsk(ada, slow)
	if err := g.Answer(t.Context(), ada, askID, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"second"}`)}, "test"); err != nil {
		t.Fatal(err)
	}
	if got := g.textOf(ada, slow); !strings.Contains(got, "second") {
		t.Errorf("the answer to the second session's question is %s", got)
	}
	if err := g.Cancel(t.Context(), ada, asking, "test"); err != nil {
		t.Fatal(err)
	}
	g.await(ada, asking, runlog.KindFinished)

	endFirst()
	third, endThird := session("3")
	isUsedAgain := func() bool { // once the cancelled call has ended
		if g.pidFor(ada, third) == one {
			return true
		}
		endThird()
		third, endThird = session("3" + time.Now().String())
		return false
	}
	if !programtest.Poll(isUsedAgain) {
		t.Fatal("the process of a session that has ended isn't used again")
	}
	if g.pidFor(ada, second) != two {
		t.Error("the other session gets another process")
	}
}

// If nobody but the client can be asked, and it has left, the upstream gets an error.
func TestNobodyIsThere(t *testing.T) {
	g := newGateway(t, child(t, "up", ""))
	gone := &clientsession.Client{Only: &clientsession.Abilities{Forms: true}, Presence: &clientsession.Presence{Grace: time.Millisecond}}
	gone.Presence.Enter()
	id := g.startFrom(ada, gone, "up__ask", "{}")
	g.awaitAsk(ada, id)
	gone.Presence.Leave()
	if got := g.textOf(ada, id); !strings.Contains(got, "-32000") || !strings.Contains(got, "nobody is there") {
		t.Errorf("the upstream got %s", got)
	}
}
