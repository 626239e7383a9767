package requests

import (
	"context"
	"encoding/json"
	"testing"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

func TestIDsAreUniqueInFlight(t *testing.T) {
	var table Table
	id := json.RawMessage("1")
	first, refused := table.Register(context.Background(), id)
	if refused != nil {
		t.Fatal(refused)
	}
	if _, refused := table.Register(context.Background(), id); refused == nil {
		t.Error("an id that is in use is accepted")
	}
	second := table.Replace(context.Background(), id)
	if first.Cause() != ErrMoved || table.Find(id) != second {
		t.Errorf("a replaced request ends with %v", first.Cause())
	}
	table.Finish(first) // which is not the one in the table
	if table.Find(id) != second {
		t.Error("the end of a replaced request removes the one that replaced it")
	}
	table.Finish(second)
	if inFlight, _ := table.Count(); inFlight != 0 || second.Cause() != ErrServed {
		t.Errorf("%d requests are in flight, and the last ended with %v", inFlight, second.Cause())
	}
}

type countingHandler struct{ n int }

func (h *countingHandler) HandleResponse(msg.Incoming) { h.n++ }

func TestResponseIsHandledOnce(t *testing.T) {
	var table Table
	var h countingHandler
	if !table.Await("a", &h) || !table.Await("b", &h) || !table.Forget("b") || table.Forget("b") {
		t.Fatal("requests are not kept until they are forgotten")
	}
	for _, id := range []string{`"a"`, `"a"`, `"b"`, `"unknown"`} {
		table.HandleResponse(msg.Incoming{ID: json.RawMessage(id)})
	}
	if h.n != 1 {
		t.Errorf("%d responses are handled, want 1", h.n)
	}
}

func TestEndCancelsAll(t *testing.T) {
	var table Table
	r, _ := table.Register(context.Background(), json.RawMessage("1"))
	table.Await("a", &countingHandler{})
	table.End(ErrSessionEnded)
	if _, refused := table.Register(context.Background(), json.RawMessage("2")); refused == nil || r.Cause() != ErrSessionEnded {
		t.Errorf("after the end, a request is accepted, or the one before ended with %v", r.Cause())
	}
	if _, awaited := table.Count(); awaited != 0 || table.Await("b", &countingHandler{}) {
		t.Error("after the end, responses are awaited")
	}
}
