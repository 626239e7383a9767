package engine_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// While deletion is paused, neither runs nor keys are deleted. Keys that were due are
// deleted afterwards.
func TestPauseDeletion(t *testing.T) {
	secretive := newPhoton("secretive", func(_ context.Context, yield generators.Yield) (string, error) {
		if _, err := ask.Secret(yield, "word", "Which?"); err != nil {
			return "", err
		}
		_, err := ask.Confirm(yield, "go", "Go on?")
		return "done", err
	}, nil)
	o := testOptions(t, echo, secretive)
	o.KeyDir = t.TempDir()
	keys := func() int {
		entries, err := os.ReadDir(o.KeyDir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	b := openTestEngine(t, o)
	b.waitForEnd(b.startRun("echo", `{"text":"x"}`))
	id := b.startRun("secretive", "")
	word, seq := b.waitForAsk(id, 0)
	b.acceptAsk(word, `{"word":"xyzzy"}`)
	confirm, _ := b.waitForAsk(id, seq)

	one, two := b.PauseDeletion(), b.PauseDeletion()
	b.acceptAsk(confirm, `{"go":true}`)
	b.waitForEnd(id)
	if _, err := b.Prune(engine.PruneCriteria{Keep: pointerTo(0)}, false); !errors.Is(err, engine.ErrDeletionPaused) {
		t.Errorf("pruning returned %v", err)
	}
	one()
	one() // a second call has no effect
	if keys() != 1 {
		t.Errorf("there are %d keys while deletion is paused, want 1", keys())
	}
	two()
	if keys() != 0 {
		t.Errorf("there are %d keys after the end of their runs", keys())
	}
	if pruned, err := b.Prune(engine.PruneCriteria{OlderThan: pointerTo(time.Duration(0))}, false); len(pruned) != 2 || err != nil {
		t.Errorf("afterwards, pruning deleted %v, %v", pruned, err)
	}
}

// Nor is a run deleted whose start was refused but turns out to be recorded.
func TestPauseDeletionKeepsRefusedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, echo)
		l := &uncertainLog{Log: o.Log, recorded: true}
		l.appendsLeft.Store(1)
		o.Log = l
		b := openTestEngine(t, o)
		release := b.PauseDeletion()
		if _, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "echo", Args: []byte(`{"text":"x"}`)}); err == nil {
			t.Fatal("an uncertain start returned no error")
		}
		left := func() (n int) {
			for range l.Log.Runs(t.Context()) {
				n++
			}
			return n
		}
		time.Sleep(5 * time.Minute)
		if n := left(); n != 1 {
			t.Errorf("the log has %d runs while deletion is paused, want 1", n)
		}
		release()
		time.Sleep(5 * time.Second)
		if n := left(); n != 0 {
			t.Errorf("the log has %d runs, want none, because the start was refused", n)
		}
	})
}

// A blockingLog is a log whose next deletion calls a function first.
type blockingLog struct {
	runlog.Log
	meanwhile func()
}

func (l *blockingLog) Delete(ctx context.Context, run string) error {
	if f := l.meanwhile; f != nil {
		l.meanwhile = nil
		f()
	}
	return l.Log.Delete(ctx, run)
}

// Two deletions at once wait for each other, and don't take each other for a backup.
func TestDeletionsAtOnce(t *testing.T) {
	o := testOptions(t, echo)
	l := &blockingLog{Log: o.Log}
	o.Log = l
	b := openTestEngine(t, o)
	var ids []string
	for range 3 {
		id := b.startRun("echo", `{"text":"`+strings.Repeat("x", 300<<10)+`"}`)
		b.waitForEnd(id)
		ids = append(ids, id)
	}
	var deleted, discarded error
	var both []<-chan none
	l.meanwhile = func() {
		both = append(both, startAndYield(func() { deleted = b.Delete(me, ids[1]) }), startAndYield(func() { discarded = b.Discard(me, ids[2]) }),
			startAndYield(func() { _ = b.Delete(me, ids[0]) })) // which may come too late
	}
	if err := b.Delete(me, ids[0]); err != nil {
		t.Error(err)
	}
	for _, done := range both {
		<-done
	}
	if used := b.Budgets()[2].Usage().Used; used != 0 {
		t.Errorf("%d bytes are in use", used)
	}
	if left := allRunIDs(b); deleted != nil || discarded != nil || len(left) > 0 {
		t.Errorf("the others: %v, %v; %v are left", deleted, discarded, left)
	}
}
