package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// After a crash between a step's effect and its record, the step runs again with the
// same idempotency key, by which a service can detect the repetition.
func TestStepRepeatedAfterCrashHasSameKey(t *testing.T) {
	var keys []string
	p := newPhoton("careful", func(_ context.Context, yield generators.Yield) (string, error) {
		return generators.Step(yield, "charge", func(ctx context.Context) (string, error) {
			keys = append(keys, generators.IdempotencyKey(ctx))
			return "charged", nil
		})
	}, &generators.Options{Durable: true})
	o := testOptions(t, p)
	b := openTestEngine(t, o)
	b.waitForEnd(b.startRun("careful", ""))
	entries := b.entries(b.Runs(me, 0, nil)[0].ID)
	stepped := slices.IndexFunc(entries, func(e runlog.Entry) bool { return e.Kind == runlog.KindStepped })
	b.closeNow()

	o.Log = newTestLog()
	id := "c0ffee00000000000000000000000000"
	for range 2 { // crashes twice at the same place
		if err := o.Log.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Log.Append(t.Context(), id, 0, entries[:stepped]...); err != nil {
			t.Fatal(err)
		}
		crashed := openTestEngine(t, o)
		if f := crashed.waitForEnd(id); f.Status != runlog.Completed {
			t.Fatalf("finished = %+v", f)
		}
		crashed.closeNow()
	}
	if len(keys) != 3 || keys[1] != keys[2] || keys[0] == keys[1] || keys[1] != id+"/charge" {
		t.Errorf("the step ran with the keys %q, want a different one for each run, and the same after each crash", keys)
	}
}
