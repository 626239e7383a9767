package store_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/smallstate/smallstatetest"
	"github.com/photon-beam/beam/internal/store"
)

func TestState(t *testing.T) {
	smallstatetest.RunSuite(t, func(t *testing.T) func() smallstate.Store {
		s := openStore(t, store.Options{Dir: t.TempDir()})
		t.Cleanup(func() {
			if report, err := s.Check(context.Background()); err != nil || !report.Whole() {
				t.Errorf("the store is not whole: %v, %v", report, err)
			}
		})
		return func() smallstate.Store { return s.State() }
	})
}

// Values are there when the store is opened again.
func TestStateIsKept(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	b := smallstate.Bucket{Store: s.State(), Name: "b"}
	for _, key := range []string{"1", "2"} {
		if added, err := b.Add(t.Context(), key, []byte(key)); !added || err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Delete(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, store.Options{Dir: dir})
	if page, err := s.State().List(t.Context(), "b", "", 10); err != nil || len(page) != 1 || !bytes.Equal(page[0].Value, []byte("2")) {
		t.Errorf("there are %v, %v", page, err)
	}
	checkWhole(t, s)
}

// A transaction that fails changes nothing, and one that only seemed to fail is known to have
// succeeded.
func TestStateAfterFailures(t *testing.T) {
	s := openStore(t, store.Options{Dir: t.TempDir()})
	b := smallstate.Bucket{Store: s.State(), Name: "b"}
	for _, fail := range []string{"INSERT INTO state", "UPDATE meta", "COMMIT"} {
		store.FailNext(s, fail)
		if added, err := b.Add(t.Context(), "k", []byte("v")); added || err == nil {
			t.Errorf("%s fails: %t, %v", fail, added, err)
		}
	}
	store.FailAfterNext(s, "COMMIT")
	if added, err := b.Add(t.Context(), "k", []byte("v")); !added || err != nil {
		t.Errorf("the commit seems to fail: %t, %v", added, err)
	}
	startRun(t, s, "r", runlog.Started{})
	checkWhole(t, s)
}
