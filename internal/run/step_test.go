package run_test

import (
	"context"
	"slices"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// A crash after a step's effect and before its record makes the step run again:
// at least once. Its idempotency key is the same, so that a service that knows
// such keys has the effect once.
func TestAStepThatACrashRepeatsHasTheSameKey(t *testing.T) {
	var keys []string
	p := photon("careful", func(_ context.Context, yield generators.Yield) (string, error) {
		return generators.Step(yield, "charge", func(ctx context.Context) (string, error) {
			keys = append(keys, generators.IdempotencyKey(ctx))
			return "charged", nil
		})
	}, &generators.Options{Durable: true})
	o := options(t, p)
	b := open(t, o)
	b.finished(b.start("careful", ""))
	entries := b.entries(b.Runs(me, 0, nil)[0].ID)
	stepped := slices.IndexFunc(entries, func(e log.Entry) bool { return e.Kind == log.KindStepped })
	b.close()

	o.Log = newLog()
	id := "c0ffee00000000000000000000000000"
	for range 2 { // crashes twice at the same place
		if err := o.Log.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Log.Append(t.Context(), id, 0, entries[:stepped]...); err != nil {
			t.Fatal(err)
		}
		crashed := open(t, o)
		if f := crashed.finished(id); f.Status != log.Completed {
			t.Fatalf("finished = %+v", f)
		}
		crashed.close()
	}
	if len(keys) != 3 || keys[1] != keys[2] || keys[0] == keys[1] || keys[1] != id+"/charge" {
		t.Errorf("the step ran with the keys %q, want one of its own a run, the same after each crash", keys)
	}
}
