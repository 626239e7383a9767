package policy_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// However large the tools are that a server changes all the time, what is remembered of
// them stays small, and a tool that changes is held back.
func TestPinsAreBounded(t *testing.T) {
	state := smallstate.NewMemory()
	p := newPolicy(t, config.Policy{}, policy.Options{State: state})
	large := strings.Repeat("<", 60<<10)
	var last []json.RawMessage
	for round := range 3 {
		last = nil
		for i := range 40 {
			last = append(last, tool(fmt.Sprintf("t%d-%d", round, i), large))
		}
		p.Review(last)
	}
	size := 0
	for v, err := range (smallstate.Bucket{Store: state, Name: policy.PinsBucket("up")}).All(t.Context()) {
		if size += len(v.Key) + len(v.Value); err != nil {
			t.Fatal(err)
		}
	}
	if size < 1<<20 || size > 5<<20 {
		t.Errorf("of 7 MB of tools, %d bytes are stored", size)
	}
	p = newPolicy(t, config.Policy{}, policy.Options{State: state})
	last[39] = tool("t2-39", "something else")
	if got := p.Review(last)[39]; got.Decision != policy.Held || got.Change.Old != nil {
		t.Errorf("a tool of which only the digest is stored is %s, %v", got.Decision, got.Change)
	}
	if err := p.Accept("t2-39", ""); err != nil {
		t.Error(err)
	}
	if got := p.Review(last)[39]; got.Decision != policy.Offered {
		t.Errorf("after it was accepted, the tool is %s", got.Decision)
	}
}

// If pins may have been lost, tools that have none are held back until somebody accepts them all.
func TestLostPins(t *testing.T) {
	state := smallstate.NewMemory()
	bucket := smallstate.Bucket{Store: state, Name: policy.PinsBucket("up")}
	tools := []json.RawMessage{tool("a", ""), tool("b", "")}
	newPolicy(t, config.Policy{}, policy.Options{State: state}).Review(tools)
	if err := bucket.Delete(t.Context(), "up__b"); err != nil {
		t.Fatal(err)
	}
	if is, err := policy.PinsMayBeLost(t.Context(), bucket); err != nil || !is {
		t.Fatal(is, err)
	}
	decisions := func() [2]policy.Decision {
		got := newPolicy(t, config.Policy{}, policy.Options{State: state}).Review(tools)
		return [2]policy.Decision{got[0].Decision, got[1].Decision}
	}
	for range 2 {
		if got := decisions(); got != [2]policy.Decision{policy.Offered, policy.Held} {
			t.Errorf("after the loss, the tools are %v", got)
		}
	}
	p := newPolicy(t, config.Policy{}, policy.Options{State: state})
	p.Review(tools)
	if accepted, err := p.AcceptAll(); err != nil || len(accepted) != 1 {
		t.Error(accepted, err)
	}
	tools[0], tools[1] = tool("a", ""), tool("c", "")
	if got := decisions(); got != [2]policy.Decision{policy.Offered, policy.Offered} {
		t.Errorf("once all were accepted, they are %v", got)
	}
}

// A server that has had too many tools gets no more until an operator forgets the old ones.
// It can't make Beam forget a tool that it then changes.
func TestTooManyPins(t *testing.T) {
	p := newPolicy(t, config.Policy{}, policy.Options{})
	p.Review([]json.RawMessage{tool("first", "harmless")})
	var last []json.RawMessage
	for round := range 6 {
		last = []json.RawMessage{tool("first", "harmful")}
		for i := range 1900 {
			last = append(last, tool(fmt.Sprintf("t%d-%d", round, i), ""))
		}
		p.Review(last)
	}
	tools := p.Review(last)
	if got := tools[0].Decision; got != policy.Held {
		t.Errorf("the tool that changed is %s", got)
	}
	if got := tools[1900]; got.Decision != policy.Skipped || !strings.Contains(got.Reason, "beam upstream accept up") {
		t.Errorf("a new tool is %s: %s", got.Decision, got.Reason)
	}
	if accepted, err := p.AcceptAll(); err != nil || len(accepted) != 1 {
		t.Errorf("accepted %v, %v", accepted, err)
	}
	if got := p.Review(last); got[0].Decision != policy.Offered || got[1900].Decision != policy.Offered {
		t.Errorf("after that, the tools are %s and %s", got[0].Decision, got[1900].Decision)
	}
}

// A definition that would be huge when it is digested is refused before that.
func TestDeepDefinitionTakesLittleMemory(t *testing.T) {
	p := newPolicy(t, config.Policy{}, policy.Options{})
	const depth = 2000
	schema := strings.Repeat(`{"type":"object","properties":{"x":`, depth) + `{"enum":[0` + strings.Repeat(",0", 20_000) + "]}" + strings.Repeat("}}", depth)
	deep := json.RawMessage(`{"name":"deep","inputSchema":` + schema + `}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := p.Review([]json.RawMessage{deep})[0]
	runtime.ReadMemStats(&after)
	if got.Decision != policy.Skipped || !strings.Contains(got.Reason, "nested") {
		t.Errorf("the tool is %s: %s", got.Decision, got.Reason)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("reviewing a definition of %d bytes took %d bytes", len(deep), took)
	}
}

// Tools that can't be offered because of their definitions don't take the places of others.
func TestBadDefinitionsTakeNoPlaces(t *testing.T) {
	p := newPolicy(t, config.Policy{}, policy.Options{})
	var list []json.RawMessage
	for i := range 2100 {
		list = append(list, json.RawMessage(fmt.Sprintf(`{"name":"bad%d","inputSchema":7}`, i)))
	}
	tools := p.Review(append(list, tool("good", "")))
	if got := tools[0]; got.Decision != policy.Skipped || got.Reason != "Its inputSchema must be an object, not a number." {
		t.Errorf("a bad tool is %s: %s", got.Decision, got.Reason)
	}
	if got := tools[len(list)]; got.Decision != policy.Offered {
		t.Errorf("the good tool is %s: %s", got.Decision, got.Reason)
	}
}
