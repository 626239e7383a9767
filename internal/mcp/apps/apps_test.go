package apps

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/smallstate"
)

func TestIsAddress(t *testing.T) {
	for uri, want := range map[string]bool{
		Address("0123456789ab"): true, "ui://beam/run-0.html": true,
		"ui://beam/run-.html": false, "ui://beam/run-0.html?x": false, "ui://beam/run-../x.html": false, "ui://beam/run-AB.html": false,
		"ui://other/run-0.html": false, "ui://beam/run-" + strings.Repeat("0", 100) + ".html": false, "": false,
	} {
		if IsAddress(uri) != want {
			t.Errorf("%q: %t", uri, !want)
		}
	}
}

// Of callers at the same time, also in several processes, one claims a part.
func TestClaimIsWonOnce(t *testing.T) {
	state := smallstate.NewMemory()
	all := []*Marks{NewMarks(state), NewMarks(state)}
	told := func() Told {
		got, err := all[0].Told(t.Context(), "a1")
		if err != nil {
			t.Error(err)
		}
		return got
	}
	var won atomic.Int32
	var claiming sync.WaitGroup
	for n := range 20 {
		claiming.Go(func() {
			first, err := all[n%2].Claim(t.Context(), "a1", Message)
			if err != nil {
				t.Error(err)
			}
			if first {
				won.Add(1)
			}
		})
	}
	claiming.Wait()
	if won.Load() != 1 || told() != (Told{Message: true}) {
		t.Errorf("%d have won, and %+v is told", won.Load(), told())
	}
	if err := all[1].Release(t.Context(), "a1", Message); err != nil || told() != (Told{}) {
		t.Errorf("released, %+v is told, %v", told(), err)
	}
	if first, err := all[1].Claim(t.Context(), "a1", Message); !first || err != nil {
		t.Errorf("released, it can't be claimed: %v", err)
	}
}

// Marks last as long as their runs.
func TestSweep(t *testing.T) {
	m := NewMarks(smallstate.NewMemory())
	for _, run := range []string{"a1", "b2"} {
		if _, err := m.Claim(t.Context(), run, Context); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Sweep(t.Context(), func(run string) bool { return run == "b2" }); err != nil {
		t.Error(err)
	}
	for run, want := range map[string]bool{"a1": false, "b2": true} {
		if told, err := m.Told(t.Context(), run); told.Context != want || err != nil {
			t.Errorf("swept, of %s %+v is told, %v", run, told, err)
		}
	}
}

// Every kind of question has a place, and what is for the page can't be accepted elsewhere.
func TestPlaces(t *testing.T) {
	for _, kind := range askdata.Kinds() {
		q := &askdata.Question{Kind: kind}
		want := InChat
		switch kind {
		case askdata.KindSecret, askdata.KindFile, askdata.KindSample:
			want = AcceptOnPage
		}
		if got := (Policy{}).PlaceOf(q); got != want {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
		q.Destructive = true
		for _, action := range []askdata.Action{askdata.Accept, askdata.Decline, askdata.Cancel} {
			if (Policy{}).Allows(q, action) {
				t.Errorf("a destructive %s allows %s", kind, action)
			}
		}
	}
	for _, q := range []*askdata.Question{{Kind: askdata.KindText, From: []askdata.Who{askdata.Who{Role: "boss"}}}, {Kind: askdata.KindText, NotCaller: true}} {
		if (Policy{Destructive: true}).PlaceOf(q) != OnPage {
			t.Errorf("%+v may be answered in the chat", q)
		}
	}
	if (Policy{OnPage: true, Destructive: true}).PlaceOf(&askdata.Question{Kind: askdata.KindText}) != OnPage {
		t.Error("a tool with a view of its own is answered in the chat")
	}
	if (Policy{}).Allows(&askdata.Question{Kind: askdata.KindURL, UntilDone: true}, askdata.Accept) || (Policy{}).Allows(nil, askdata.Decline) {
		t.Error("a question for the page is accepted")
	}
}

func TestSurfaceOf(t *testing.T) {
	for client, want := range map[string]string{
		"Claude": "app Claude", "": "app an unnamed client", "a\nb\x1b[31m": "app a b",
	} {
		if got := SurfaceOf(client); !strings.HasPrefix(got, want) || strings.ContainsAny(got, "\n\x1b") {
			t.Errorf("%q is %q", client, got)
		}
	}
	if got := SurfaceOf(strings.Repeat("a", 10_000)); len(got) > 100 {
		t.Errorf("it has %d bytes", len(got))
	}
}

func TestHasView(t *testing.T) {
	for definition, want := range map[string]bool{
		`{"name":"x"}`: false, `{"_meta":{"n":1}}`: false, `{"_meta":{"ui":{"resourceUri":"ui://a/b"}}}`: true, `{"_meta":{"ui/resourceUri":"ui://a/b"}}`: true,
		`{"_meta":{"ui":{"visibility":["app"]}}}`: true, // it is another view's tool
	} {
		if HasView(json.RawMessage(definition)) != want {
			t.Errorf("%s: %t", definition, !want)
		}
	}
}
