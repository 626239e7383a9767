package crash

import (
	"bytes"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/systemtest/logcheck"
)

// checkLog checks the log, and that the results are the ones that the clients received.
func checkLog(t *testing.T, dir string, results map[string]string) {
	t.Helper()
	l, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	runs, err := logcheck.Check(t.Context(), l, t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	for id, received := range results {
		r := runs[id]
		switch {
		case r == nil:
			t.Errorf("run %s has no log", id)
		case r.End == nil:
			t.Errorf("run %s has not finished, but a client received %s", id, received)
		case r.End.Status != runlog.Completed:
			t.Errorf("run %s ended as %s: %s", id, r.End.Status, r.End.Error)
		default:
			for _, want := range []string{`"Ada"`, `"ada@example.org"`, `"admin"`, r.Steps["reserve"]} {
				if want == "" || !bytes.Contains(r.End.Result, []byte(want)) || !strings.Contains(received, want) {
					t.Errorf("run %s: %q is missing in its result %s or in the received one: %s", id, want, r.End.Result, received)
				}
			}
		}
	}
	if results != nil && len(results) == 0 {
		t.Error("no wizard completed")
	}
}
