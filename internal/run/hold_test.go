package run_test

import (
	"context"
	"errors"
	"os"
	"testing"
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
