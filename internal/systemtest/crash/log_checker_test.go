package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// checkLog reads the log and checks that the ordinals have no gaps, that each question
// is settled at most once, each step is recorded once and each run ends once, and that
// the results are the ones that the clients received.
func checkLog(t *testing.T, dir string, results map[string]string) {
	t.Helper()
	l, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	runs := make(map[string]*runChecker)
	for a, err := range runlog.Scan(t.Context(), l) {
		if err != nil {
			t.Fatal(err)
		}
		r := runs[a.Run]
		if r == nil {
			r = &runChecker{asked: map[uint64]bool{}, stepped: map[string]string{}}
			runs[a.Run] = r
		}
		for _, e := range a.Entries {
			if err := r.addEntry(e); err != nil {
				t.Errorf("run %s, entry %d: %v", a.Run, e.Seq, err)
			}
		}
	}
	for id, received := range results {
		r := runs[id]
		switch {
		case r == nil:
			t.Errorf("run %s has no log", id)
		case r.finished == nil:
			t.Errorf("run %s has not finished, but a client received %s", id, received)
		case r.finished.Status != runlog.Completed:
			t.Errorf("run %s ended as %s: %s", id, r.finished.Status, r.finished.Error)
		default:
			for _, want := range []string{`"Ada"`, `"ada@example.org"`, `"admin"`, r.stepped["reserve"]} {
				if want == "" || !bytes.Contains(r.finished.Result, []byte(want)) || !strings.Contains(received, want) {
					t.Errorf("run %s: %q is missing in its result %s or in the received one: %s", id, want, r.finished.Result, received)
				}
			}
		}
	}
	if results != nil && len(results) == 0 {
		t.Error("no wizard completed")
	}
}

// A runChecker checks the entries of one run.
type runChecker struct {
	last     uint64
	asked    map[uint64]bool // false once it is settled
	stepped  map[string]string
	finished *runlog.Finished
}

func (r *runChecker) addEntry(e runlog.Entry) error {
	if e.Seq != r.last+1 {
		return fmt.Errorf("it follows entry %d", r.last)
	}
	r.last = e.Seq
	if r.finished != nil {
		return errors.New("it follows the finish")
	}
	switch e.Kind {
	case runlog.KindAsked:
		r.asked[e.Seq] = true
	case runlog.KindAnswered, runlog.KindWithdrawn:
		var s struct{ Ask uint64 }
		if err := json.Unmarshal(e.Data, &s); err != nil {
			return err
		}
		if !r.asked[s.Ask] {
			return fmt.Errorf("question %d is settled twice, or was not asked", s.Ask)
		}
		r.asked[s.Ask] = false
	case runlog.KindStepped:
		s, err := runlog.Decode[runlog.Stepped](e)
		if err != nil {
			return err
		}
		if _, again := r.stepped[s.Key]; again {
			return fmt.Errorf("step %s is recorded twice", s.Key)
		}
		r.stepped[s.Key] = string(s.Value)
	case runlog.KindFinished:
		f, err := runlog.Decode[runlog.Finished](e)
		if err != nil {
			return err
		}
		r.finished = &f
	}
	return nil
}
