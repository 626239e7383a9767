package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
)

// Info has the latest status of a waiting run, and the time since which it waits.
func TestInfoHasLatestStatus(t *testing.T) {
	long := strings.Repeat("wörk ", 100)
	talker := generators.New("talker", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.Status("first"))
		yield(generators.Status(long))
		time.Sleep(5 * time.Second) // in a bubble
		return ask.Text(yield, "word", "Which word?")
	}, nil)
	synctest.Test(t, func(t *testing.T) {
		b := openTestEngine(t, testOptions(t, talker))
		started, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "talker", Surface: "test", RetainFor: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		id := started.ID
		b.waitForAsk(id, 0)
		info, err := b.Info(me, id)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.LatestStatus) > 200 || !utf8.ValidString(info.LatestStatus) || !strings.HasPrefix(info.LatestStatus, "wörk wörk") {
			t.Errorf("LatestStatus = %q, want the beginning of the latest status", info.LatestStatus)
		}
		if waited := info.StateChanged.Sub(info.Started); waited != 5*time.Second {
			t.Errorf("the run waits since %s after its start, want 5 s", waited)
		}
		if !info.RetainedUntil.IsZero() {
			t.Errorf("an unfinished run is retained until %s, want no limit", info.RetainedUntil)
		}
	})
}

// A run with a promised retention is retained, however many others end.
func TestRetainAfterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, echo)
		o.Limits = engine.Limits{MaxFinishedPerOwner: 1}
		b := openTestEngine(t, o)
		info, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "echo", Args: []byte(`{"text":"x"}`), Surface: "test", RetainFor: 10 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		b.waitForEnd(info.ID)
		for range 3 {
			time.Sleep(time.Second)
			b.waitForEnd(b.startRun("echo", `{"text":"other"}`))
		}
		info, err = b.Info(me, info.ID)
		if err != nil || info.RetainedUntil.Sub(info.Started) != 10*time.Minute {
			t.Fatalf("the run is retained until %s: %v", info.RetainedUntil, err)
		}
		time.Sleep(time.Until(info.RetainedUntil) - time.Second)
		synctest.Wait()
		if _, err := b.Info(me, info.ID); err != nil {
			t.Errorf("a second before that: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := b.Info(me, info.ID); err != engine.ErrRunNotFound {
			t.Errorf("after that: %v, want ErrRunNotFound", err)
		}
	})
}
