package run_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/run"
)

// While somebody reads what the log names, nothing of it goes: neither runs nor
// the keys of their secrets. Afterwards, what was due goes.
func TestHold(t *testing.T) {
	secretive := photon("secretive", func(_ context.Context, yield generators.Yield) (string, error) {
		if _, err := ask.Secret(yield, "word", "Which?"); err != nil {
			return "", err
		}
		_, err := ask.Confirm(yield, "go", "Go on?")
		return "done", err
	}, nil)
	o := options(t, echo, secretive)
	o.Keys = t.TempDir()
	keys := func() int {
		entries, err := os.ReadDir(o.Keys)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	b := open(t, o)
	b.finished(b.start("echo", `{"text":"x"}`))
	id := b.start("secretive", "")
	word, seq := b.asked(id, 0)
	b.accept(word, `{"word":"xyzzy"}`)
	confirm, _ := b.asked(id, seq)

	one, two := b.Hold(), b.Hold()
	b.accept(confirm, `{"go":true}`)
	b.finished(id)
	if _, err := b.Prune(run.Criteria{Keep: ref(0)}, false); !errors.Is(err, run.ErrHeld) {
		t.Errorf("pruning says %v", err)
	}
	one()
	one() // again is no other's
	if keys() != 1 {
		t.Errorf("there are %d keys while they are held", keys())
	}
	two()
	if keys() != 0 {
		t.Errorf("there are %d keys of runs that have ended", keys())
	}
	if gone, err := b.Prune(run.Criteria{OlderThan: ref(time.Duration(0))}, false); len(gone) != 2 || err != nil {
		t.Errorf("then it deletes %v, %v", gone, err)
	}
}

// Nor does what is left of a run whose start was refused, though the log has it
// after all.
func TestHoldKeepsWhatARefusedStartLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, echo)
		l := &doubtful{Log: o.Log, kept: true}
		l.left.Store(1)
		o.Log = l
		b := open(t, o)
		release := b.Hold()
		if _, err := b.Start(t.Context(), me, run.Request{Photon: "echo", Args: []byte(`{"text":"x"}`)}); err == nil {
			t.Fatal("a start in doubt was none")
		}
		left := func() (n int) {
			for range l.Log.Runs(t.Context()) {
				n++
			}
			return n
		}
		time.Sleep(5 * time.Minute)
		if n := left(); n != 1 {
			t.Errorf("the log has %d runs while it is held, want 1", n)
		}
		release()
		time.Sleep(5 * time.Second)
		if n := left(); n != 0 {
			t.Errorf("the log has %d runs, and its start was refused", n)
		}
	})
}
