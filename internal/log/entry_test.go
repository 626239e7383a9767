package log_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
)

// TestEntriesRoundTrip through JSON, as an engine on disk keeps them.
func TestEntriesRoundTrip(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	q := &ask.Question{Kind: ask.KindText, Message: "m", Fields: ask.Fields{{Name: "k", Type: "string", Required: true}}}
	trip(t, log.KindStarted, log.Started{Photon: "p", Title: "P", Durable: true, Owner: "o", Surface: "mcp", Args: json.RawMessage(`{"a":1}`)})
	trip(t, log.KindClaimed, log.Claimed{Epoch: 2})
	trip(t, log.KindAsked, log.Asked{Key: "k", Question: q, Deadline: at, Spent: ask.Millis(time.Second)})
	trip(t, log.KindAsked, log.Asked{Key: "k", Question: q, More: true})
	trip(t, log.KindWithdrawn, log.Withdrawn{Ask: 3, Reason: log.Unsupported, Error: "no forms"})
	trip(t, log.KindAnswered, log.Answered{Ask: 3, Answer: ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"k":"a"}`)}, By: "browser"})
	trip(t, log.KindAnswered, log.Answered{Ask: 3, Answer: ask.Answer{Action: ask.Accept}, Sealed: []byte{0, 255}, By: "browser"})
	trip(t, log.KindStepped, log.Stepped{Key: "s", Error: "no"})
	trip(t, log.KindWithdrawn, log.Withdrawn{Ask: 3, Reason: log.Expired})
	trip(t, log.KindFinished, log.Finished{Status: log.Completed, Result: json.RawMessage(`null`)})
}

func trip[T any](t *testing.T, kind log.Kind, data T) {
	t.Helper()
	raw, err := json.Marshal(log.New(kind, data))
	if err != nil {
		t.Fatal(err)
	}
	var back log.Entry
	if err := json.Unmarshal(raw, &back); err != nil || back.Kind != kind || kind.IsEvent() {
		t.Errorf("%s: %+v, %v", raw, back, err)
	}
	got, err := log.As[T](back)
	if err != nil || !reflect.DeepEqual(got, data) {
		t.Errorf("%+v became %+v (%v)", data, got, err)
	}
}

func TestEntryOfAnotherType(t *testing.T) {
	e := log.Entry{Seq: 7, Kind: log.KindClaimed, Data: json.RawMessage(`{"epoch":"x"}`)}
	if _, err := log.As[log.Claimed](e); err == nil || !strings.Contains(err.Error(), "entry 7 (claimed)") {
		t.Errorf("got %v", err)
	}
	if !log.Kind("status").IsEvent() || !log.Kind("artifact").IsEvent() {
		t.Error("a status or an artifact is no event")
	}
}

func TestAskIDs(t *testing.T) {
	run, seq, ok := log.SplitAskID(log.AskID("7f3c", 12))
	if run != "7f3c" || seq != 12 || !ok {
		t.Errorf("got %q, %d, %v", run, seq, ok)
	}
	for _, id := range []string{"", ".", "7f3c", "7f3c.", ".12", "7f3c.0", "7f3c.x", "7f3c.-1", "7f3c.1.2", "7f3c.99999999999999999999", "7f3c.+1", "7f3c. 1", "7f3c.012"} {
		if run, seq, ok := log.SplitAskID(id); ok {
			t.Errorf("%q is the ask %d of the run %q", id, seq, run)
		}
	}
}
