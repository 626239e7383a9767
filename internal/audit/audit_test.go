package audit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
)

func newLog(t testing.TB) (*audit.Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := audit.Open(path, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, path
}

func readEvents(t testing.TB, path string) (events []audit.Event) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var e audit.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

func TestRecord(t *testing.T) {
	l, path := newLog(t)
	l.Record(audit.Of(audit.SignedIn, generators.Caller{ID: "user:ada", Name: "ada\n", Roles: []string{"ops"}}))
	(*audit.Log)(nil).Record(audit.Event{Kind: audit.SignedIn}) // no file
	events := readEvents(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || len(events) != 1 || events[0].Caller != "user:ada" || events[0].Time.IsZero() {
		t.Errorf("%v, %v, %+v", info, err, events)
	}
}

// What anybody can cause is recorded at most ten times a second, and the next record says
// how much was left out. What people do is all recorded.
func TestRefusalsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, path := newLog(t)
		for range 1000 {
			l.Record(audit.Event{Kind: audit.SignInRefused})
			l.Record(audit.Event{Kind: audit.Answered})
		}
		time.Sleep(time.Second)
		l.Record(audit.Event{Kind: audit.AnswerRefused})
		var refused, answered int
		var suppressed int64
		for _, e := range readEvents(t, path) {
			if e.Kind == audit.Answered {
				answered++
				continue
			}
			refused++
			suppressed += e.Suppressed
		}
		if answered != 1000 || refused != 11 || suppressed != 990 {
			t.Errorf("%d answers, %d refusals and %d left out", answered, refused, suppressed)
		}
	})
}

// A full file is renamed and kept, and errors are counted, and told once.
func TestFullFileIsKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	if err := os.WriteFile(path, make([]byte, 16<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	failures := 0
	l, err := audit.Open(path, func(error) { failures++ })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Record(audit.Event{Kind: audit.Answered})
	names, err := filepath.Glob(path + "*")
	if err != nil || len(names) != 2 || len(readEvents(t, path)) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l.Write(strings.Repeat("x", 16<<20)) // begins a new file, in a folder that is gone
	}
	if failures != 1 || l.Failures() != 2 {
		t.Errorf("told %d times, counted %d", failures, l.Failures())
	}
}
