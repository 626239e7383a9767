package runlog_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// TestEntriesRoundTrip encodes entries as JSON and decodes them.
func TestEntriesRoundTrip(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	q := &askdata.Question{Kind: askdata.KindText, Message: "m", Fields: askdata.Fields{{Name: "k", Type: "string", Required: true}}}
	checkRoundTrip(t, runlog.KindStarted, runlog.Started{Photon: "p", Title: "P", Durable: true, Owner: "o", Surface: "mcp", Args: json.RawMessage(`{"a":1}`)})
	ada := generators.Caller{ID: "ada", Name: "Ada", Roles: []string{"approver"}}
	checkRoundTrip(t, runlog.KindStarted, runlog.Started{Photon: "p", Owner: "ada", Caller: &ada, Args: json.RawMessage(`{}`)})
	checkRoundTrip(t, runlog.KindAdopted, runlog.Adopted{By: ada})
	checkRoundTrip(t, runlog.KindAnswered, runlog.Answered{AskSeq: 3, Answer: askdata.Answer{Action: askdata.Decline}, Surface: "mcp", Caller: &ada, Shown: "00"})
	checkRoundTrip(t, runlog.KindClaimed, runlog.Claimed{Epoch: 2, Program: "00c0ffee00c0ffee"})
	checkRoundTrip(t, runlog.KindAsked, runlog.Asked{Key: "k", Question: q, Deadline: at, TimeSpent: askdata.Millis(time.Second)})
	checkRoundTrip(t, runlog.KindAsked, runlog.Asked{Key: "k", Question: q, More: true})
	checkRoundTrip(t, runlog.KindSleeping, runlog.Sleeping{Key: "night", Until: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC), TimeSpent: 5})
	checkRoundTrip(t, runlog.KindQueued, runlog.Queued{Key: "prod"})
	checkRoundTrip(t, runlog.KindSampling, runlog.Sampling{AskSeq: 3, Call: 1, Approved: &runlog.Approval{Model: "m", Digest: "00", By: &ada, Surface: "browser"}})
	checkRoundTrip(t, runlog.KindSampling, runlog.Sampling{AskSeq: 3, Call: 1, Text: "Hel"})
	checkRoundTrip(t, runlog.KindSampling, runlog.Sampling{AskSeq: 3, Call: 1, Ended: &runlog.EndOfSampling{Error: "no", InputTokens: 2}})
	checkRoundTrip(t, runlog.KindParked, runlog.Parked{Reason: runlog.ParkedMissing, Detail: "gone", Program: "00"})
	checkRoundTrip(t, runlog.KindRepeated, runlog.Repeated{Key: "s"})
	checkRoundTrip(t, runlog.KindWoken, runlog.Woken{SleepSeq: 3})
	checkRoundTrip(t, runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: 3, Reason: runlog.Unsupported, Error: "no forms"})
	checkRoundTrip(t, runlog.KindAnswered, runlog.Answered{AskSeq: 3, Answer: askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"k":"a"}`)}, Surface: "browser"})
	checkRoundTrip(t, runlog.KindAnswered, runlog.Answered{AskSeq: 3, Answer: askdata.Answer{Action: askdata.Accept}, Sealed: []byte{0, 255}, Surface: "browser"})
	checkRoundTrip(t, runlog.KindStepped, runlog.Stepped{Key: "s", Error: "no"})
	checkRoundTrip(t, runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: 3, Reason: runlog.Expired})
	checkRoundTrip(t, runlog.KindFinished, runlog.Finished{Status: runlog.Completed, Result: json.RawMessage(`null`)})
}

func checkRoundTrip[T any](t *testing.T, kind runlog.Kind, data T) {
	t.Helper()
	raw, err := json.Marshal(runlog.NewEntry(kind, data))
	if err != nil {
		t.Fatal(err)
	}
	var back runlog.Entry
	if err := json.Unmarshal(raw, &back); err != nil || back.Kind != kind || kind.IsEvent() {
		t.Errorf("%s: %+v, %v", raw, back, err)
	}
	got, err := runlog.Decode[T](back)
	if err != nil || !reflect.DeepEqual(got, data) {
		t.Errorf("%+v became %+v (%v)", data, got, err)
	}
}

func TestEntryOfAnotherType(t *testing.T) {
	e := runlog.Entry{Seq: 7, Kind: runlog.KindClaimed, Data: json.RawMessage(`{"epoch":"x"}`)}
	if _, err := runlog.Decode[runlog.Claimed](e); err == nil || !strings.Contains(err.Error(), "entry 7 (claimed)") {
		t.Errorf("got %v", err)
	}
	if !runlog.Kind("status").IsEvent() || !runlog.Kind("artifact").IsEvent() {
		t.Error("IsEvent is false for a status or an artifact")
	}
}

func TestEntryKinds(t *testing.T) {
	for _, k := range runlog.EntryKinds() {
		if k.IsEvent() {
			t.Errorf("%s is an event", k)
		}
	}
}

func TestDigestQuestion(t *testing.T) {
	if got, want := runlog.DigestQuestion([]byte(`{"kind":"confirm","message":"Go?"}`)), "1a6385d4b82b780e9684d240658fefe6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAskIDs(t *testing.T) {
	run, seq, ok := runlog.SplitAskID(runlog.AskID("7f3c", 12))
	if run != "7f3c" || seq != 12 || !ok {
		t.Errorf("got %q, %d, %v", run, seq, ok)
	}
	for _, id := range []string{"", ".", "7f3c", "7f3c.", ".12", "7f3c.0", "7f3c.x", "7f3c.-1", "7f3c.1.2", "7f3c.99999999999999999999", "7f3c.+1", "7f3c. 1", "7f3c.012"} {
		if run, seq, ok := runlog.SplitAskID(id); ok {
			t.Errorf("%q is the ask %d of the run %q", id, seq, run)
		}
	}
}
