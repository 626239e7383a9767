package run_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/run"
)

// What a list shows of a run that waits: its latest status, and since when.
func TestInfoSaysWhatWasSaidLast(t *testing.T) {
	long := strings.Repeat("wörk ", 100)
	talker := generators.New("talker", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.Status("first"))
		yield(generators.Status(long))
		time.Sleep(5 * time.Second) // in a bubble
		return ask.Text(yield, "word", "Which word?")
	}, nil)
	synctest.Test(t, func(t *testing.T) {
		b := open(t, options(t, talker))
		started, err := b.Start(t.Context(), me, run.Request{Photon: "talker", Surface: "test", Keep: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		id := started.ID
		b.asked(id, 0)
		info, err := b.Info(me, id)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Said) > 200 || !utf8.ValidString(info.Said) || !strings.HasPrefix(info.Said, "wörk wörk") {
			t.Errorf("said = %q, want the beginning of the latest status", info.Said)
		}
		if waited := info.Moved.Sub(info.Started); waited != 5*time.Second {
			t.Errorf("the run moved %s after its start, want 5 s", waited)
		}
		if !info.KeptUntil.IsZero() {
			t.Errorf("a run that goes on is kept until %s, want for good", info.KeptUntil)
		}
	})
}

// A run that is promised to be kept is, however many others end.
func TestAPromiseToKeepIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, echo)
		o.Limits = run.Limits{KeepFinished: 1}
		b := open(t, o)
		info, err := b.Start(t.Context(), me, run.Request{Photon: "echo", Args: []byte(`{"text":"x"}`), Surface: "test", Keep: 10 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		b.finished(info.ID)
		for range 3 {
			time.Sleep(time.Second)
			b.finished(b.start("echo", `{"text":"other"}`))
		}
		info, err = b.Info(me, info.ID)
		if err != nil || info.KeptUntil.Sub(info.Started) != 10*time.Minute {
			t.Fatalf("the run is promised to be kept until %s: %v", info.KeptUntil, err)
		}
		time.Sleep(time.Until(info.KeptUntil) - time.Second)
		synctest.Wait()
		if _, err := b.Info(me, info.ID); err != nil {
			t.Errorf("a second before its time is over: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := b.Info(me, info.ID); err != run.ErrNotFound {
			t.Errorf("after its time: %v, want ErrNotFound", err)
		}
	})
}
