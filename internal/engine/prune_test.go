package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/runlist"
)

func pointerTo[T any](v T) *T { return &v }

func prunedIDs(runs []engine.PrunedRun) []string {
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// TestPrune has three runs that ended an hour apart, the second of which is large, and
// one that waits.
func TestPrune(t *testing.T) {
	for name, c := range map[string]struct {
		engine.PruneCriteria
		want []int
	}{
		"by age":                  {engine.PruneCriteria{OlderThan: pointerTo(90 * time.Minute)}, []int{0, 1}},
		"by number":               {engine.PruneCriteria{Keep: pointerTo(2)}, []int{0}},
		"by size":                 {engine.PruneCriteria{MaxBytes: pointerTo(int64(300 << 10))}, []int{0, 1}},
		"by nothing":              {engine.PruneCriteria{}, nil},
		"all":                     {engine.PruneCriteria{Keep: pointerTo(0)}, []int{0, 1, 2}},
		"by what is stricter":     {engine.PruneCriteria{Keep: pointerTo(1), OlderThan: pointerTo(24 * time.Hour)}, []int{0, 1}},
		"of a time that is to be": {engine.PruneCriteria{OlderThan: pointerTo(time.Duration(0))}, []int{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := testOptions(t, echo, twoConfirms)
				b := openTestEngine(t, o)
				waits := b.startRun("twice", "")
				b.waitForAsk(waits, 0)
				var ids, want []string
				for _, size := range []int{1, 400 << 10, 1} {
					id := b.startRun("echo", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", size)))
					b.waitForEnd(id)
					ids = append(ids, id)
					time.Sleep(time.Hour)
				}
				for _, i := range c.want {
					want = append(want, ids[i])
				}
				dry, err := b.Prune(c.PruneCriteria, true)
				if got := prunedIDs(dry); err != nil || !slices.Equal(got, want) {
					t.Fatalf("of %v, a dry run selects %v, want %v; %v", ids, got, want, err)
				}
				// PruneLog, without an engine, has the same result.
				selected, err := engine.PruneLog(t.Context(), rowsOf(t, o), o.Blobs, t.TempDir(), c.PruneCriteria, true)
				if got := prunedIDs(selected); err != nil || !slices.Equal(got, want) {
					t.Fatalf("a dry run of PruneLog selects %v, want %v; %v", got, want, err)
				}
				if len(allRunIDs(b)) != 4 {
					t.Fatal("the dry run has deleted runs")
				}
				pruned, err := b.Prune(c.PruneCriteria, false)
				if got := prunedIDs(pruned); err != nil || !slices.Equal(got, want) {
					t.Fatalf("pruning deleted %v, want %v; %v", got, want, err)
				}
				if left := allRunIDs(b); len(left) != 4-len(want) || !slices.Contains(left, waits) {
					t.Errorf("%v are left", left)
				}
				for _, id := range want {
					if n, err := o.Blobs.RunSize(id); n > 0 || err != nil {
						t.Errorf("run %s has %d bytes left; %v", id, n, err)
					}
				}
			})
		})
	}
}

// Finished runs use no more space than the limit, except in their first minute.
func TestRetentionBySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, echo)
		o.Limits = engine.Limits{MaxFinishedBytes: 2 << 20}
		b := openTestEngine(t, o)
		var ids []string
		for range 4 {
			id := b.startRun("echo", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 400<<10)))
			b.waitForEnd(id)
			ids = append(ids, id)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if n := len(allRunIDs(b)); n != 4 {
			t.Fatalf("%d runs are left in the first minute", n)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if left := allRunIDs(b); len(left) != 2 || !slices.Contains(left, ids[3]) || !slices.Contains(left, ids[2]) {
			t.Errorf("%v are left of %v", left, ids)
		}
	})
}

// A run with a promised retention isn't pruned before its time.
func TestPruneKeepsRetainedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, echo)
		b := openTestEngine(t, o)
		info, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "echo", Args: []byte(`{"text":"x"}`), Surface: "test", RetainFor: 10 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		b.waitForEnd(info.ID)
		for _, want := range []int{0, 1} {
			selected, err := engine.PruneLog(t.Context(), rowsOf(t, o), o.Blobs, t.TempDir(), engine.PruneCriteria{Keep: pointerTo(0)}, true)
			if err != nil || len(selected) != want {
				t.Errorf("after %s, PruneLog selects %v, %v", time.Since(info.Started), selected, err)
			}
			pruned, err := b.Prune(engine.PruneCriteria{Keep: pointerTo(0)}, false)
			if err != nil || len(pruned) != want {
				t.Errorf("after %s, pruning deleted %v, %v", time.Since(info.Started), pruned, err)
			}
			time.Sleep(11 * time.Minute)
		}
	})
}

// A retention that is promised while the run is in progress begins with its end.
func TestPruneKeepsRunsRetainedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, greeter, echo)
		o.Limits = engine.Limits{MaxFinishedPerOwner: 1}
		b := openTestEngine(t, o)
		id := b.startRun("greeter", "")
		askID, _ := b.waitForAsk(id, 0)
		if err := b.RetainAfterEnd(me, id, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := b.RetainAfterEnd(generators.Caller{ID: "another"}, id, time.Minute); !errors.Is(err, engine.ErrForbidden) {
			t.Errorf("for another owner's run: %v", err)
		}
		time.Sleep(5 * time.Hour)
		b.acceptAsk(askID, `{"name":"Ada"}`)
		b.waitForEnd(id)
		for range 5 {
			b.waitForEnd(b.startRun("echo", `{"text":"x"}`))
		}
		time.Sleep(9 * time.Minute)
		if _, err := b.Prune(engine.PruneCriteria{Keep: pointerTo(0)}, false); err != nil {
			t.Fatal(err)
		}
		info, err := b.Info(me, id)
		if err != nil {
			t.Fatalf("after nine minutes: %v", err)
		}
		if kept := info.RetainedUntil.Sub(info.Ended); kept != 10*time.Minute {
			t.Errorf("the run is retained for %s", kept)
		}
		time.Sleep(2 * time.Minute)
		if pruned, err := b.Prune(engine.PruneCriteria{Keep: pointerTo(0)}, false); err != nil || len(pruned) != 1 {
			t.Errorf("after eleven minutes, pruning deleted %v, %v", pruned, err)
		}
	})
}

// rowsOf returns the log with its rows.
func rowsOf(t *testing.T, o engine.Options) *runlist.Memory {
	t.Helper()
	m := runlist.NewMemory(o.Log, files.Loader(o.Blobs))
	if unreadable, err := m.ReadAll(t.Context()); err != nil || len(unreadable) > 0 {
		t.Fatal(unreadable, err)
	}
	return m
}
