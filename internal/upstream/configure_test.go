package upstream_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// Configure changes the upstreams that are removed, changed or new, and no others.
func TestConfigure(t *testing.T) {
	kept, changed, removed, added := child(t, "kept", ""), child(t, "changed", ""), child(t, "removed", ""), child(t, "added", "")
	g := newGateway(t, kept, changed, removed)
	pid := func(server string) string { return g.textOf(ada, g.start(ada, server+"__pid", "{}")) }
	keptPid, changedPid := pid("kept"), pid("changed")
	calling, asking := g.start(ada, "kept__ask", "{}"), g.start(ada, "removed__ask", "{}")
	keptAsk, _ := g.awaitAsk(ada, calling)
	g.awaitAsk(ada, asking)

	changed.Deny = []string{"spawn"}
	if problems := g.Configure(t.Context(), []config.Server{added, changed, kept}); len(problems) > 0 {
		t.Fatal(problems)
	}
	if f := g.awaitEnd(ada, asking); !strings.Contains(f.Error, "the operator removed or changed the upstream") {
		t.Errorf("a call of the upstream that was removed ended with %q", f.Error)
	}
	if _, err := g.Start2(ada, "removed__pid", "{}"); err == nil {
		t.Error("a tool of the upstream that was removed can be called")
	}
	if _, err := g.Start2(ada, "changed__spawn", "{}"); err == nil {
		t.Error("a tool that the upstream no longer offers can be called")
	}
	if pid("kept") != keptPid {
		t.Error("the upstream that stayed was started again")
	}
	if pid("changed") == changedPid || pid("added") == "" {
		t.Error("the upstream that was changed was not started again")
	}
	g.answer(ada, keptAsk, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)})
	if got := g.textOf(ada, calling); !strings.Contains(got, "Ada") {
		t.Errorf("the call of the upstream that stayed returned %s", got)
	}
	var names []string
	for _, s := range g.Status() {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "added changed kept" {
		t.Errorf("the upstreams are %s", got)
	}
}

// A server whose tools can't be compared with what was accepted isn't used; others are.
func TestConfigureWithDamagedPins(t *testing.T) {
	state := smallstate.NewMemory()
	if _, err := state.Apply(t.Context(), smallstate.Change{Bucket: policy.PinsBucket("damaged"), Key: "damaged__x", New: []byte("{")}); err != nil {
		t.Fatal(err)
	}
	g := newGatewayIn(t, state)
	problems := g.Configure(t.Context(), []config.Server{child(t, "damaged", ""), child(t, "fine", "")})
	if len(problems) != 1 || !strings.Contains(problems["damaged"].Error(), `of the tools of "damaged"`) {
		t.Errorf("the problems are %v", problems)
	}
	if got := g.textOf(ada, g.start(ada, "fine__echo", `{"text":"hello"}`)); !strings.Contains(got, "hello") {
		t.Errorf("the other upstream returned %s", got)
	}
}

// Close ends soon, however stubborn a child process is, and whatever it is doing.
func TestCloseWithStubbornChildren(t *testing.T) {
	stubborn := child(t, "stubborn", "stubborn")
	g := newGateway(t, stubborn)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	g.Configure(ctx, []config.Server{stubborn, child(t, "deaf", "stubborn,hang in list")}) // which goes on in the background
	g.awaitAsk(ada, g.start(ada, "stubborn__ask", "{}"))
	began := time.Now()
	g.Manager.Close()
	if took := time.Since(began); took > programtest.ExitTimeout {
		t.Errorf("it took %v", took)
	}
}
