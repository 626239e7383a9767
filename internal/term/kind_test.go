package term

import (
	"maps"
	"slices"
	"testing"

	"github.com/photon-beam/beam/generators/shipped/kitchensink"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
)

func TestTheTerminalAsksEveryKind(t *testing.T) {
	for _, kind := range askdata.Kinds() {
		if _, ok := askKinds[kind]; !ok {
			t.Errorf("askKinds lacks %s", kind)
		}
	}
	if len(askKinds) != len(askdata.Kinds()) {
		t.Errorf("askKinds has %v, which aren't all kinds", slices.Sorted(maps.Keys(askKinds)))
	}
}

// unseen has the entries that lead to no line in a terminal, and why.
var unseen = map[string]string{
	"started":              "the status line begins",
	"claimed":              "only an operator can use it",
	"stepped":              "what the step has yielded is shown",
	"woken":                "the next event ends the status that says that the run sleeps",
	"adopted":              "whose run it is changes nothing that the run does",
	"withdrawn: run ended": "the end of the run says so",
	"finished":             "the command says how the run ended, and prints the result",
}

// Each entry is seen, or it is said why not: a new kind can't be forgotten here.
func TestEveryEntryIsSeen(t *testing.T) {
	had := make(map[string]bool)
	events := runlogtest.Example{Name: "all events"}
	for i, event := range kitchensink.Events() {
		events.Entries = append(events.Entries, entry(t, uint64(i)+1, event))
	}
	for _, x := range append(runlogtest.Examples(), events) {
		v, screen, out := newTestView(60, false, false)
		v.Verbose = true
		s := &Session{View: v, Watch: true, id: "r", postponed: make(map[string]bool)}
		for i := range x.Entries {
			e := &x.Entries[i]
			out.Reset()
			if err := s.applyEntry(e); err != nil {
				t.Fatal(err)
			}
			screen.Flush()
			name := string(e.Kind)
			if w, err := runlog.Decode[runlog.Withdrawn](*e); e.Kind == runlog.KindWithdrawn && err == nil && w.Reason == runlog.RunEnded {
				name += ": run ended"
			}
			had[name] = true
			if _, isUnseen := unseen[name]; isUnseen != (out.Len() == 0) {
				t.Errorf("%s, entry %d (%s): shows %q; listed as unseen: %v", x.Name, e.Seq, name, out, isUnseen)
			}
		}
	}
	for _, kind := range runlog.EntryKinds() {
		if !had[string(kind)] {
			t.Errorf("no example has an entry of the kind %s", kind)
		}
	}
	for name := range unseen {
		if !had[name] {
			t.Errorf("unseen lists %s, which no example has", name)
		}
	}
}
