package beamtest_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// patient asks with a timeout of a day, and tells when it is done.
var patient = newPhoton(func(ctx context.Context, yield generators.Yield) (string, error) {
	yield(generators.Status("asking"))
	name, err := ask.Text(yield, "name", "Name?", ask.Timeout(24*time.Hour))
	if err != nil {
		return "", err
	}
	time.Sleep(time.Minute) // of the bubble
	yield(generators.Status("done"))
	return name, nil
})

func TestTime(t *testing.T) {
	for _, test := range []struct {
		response beamtest.Response
		want     error
		at       []time.Duration
		took     time.Duration
	}{
		{beamtest.Accept("Ada"), nil, []time.Duration{0, time.Minute}, time.Minute},
		{beamtest.Accept("Ada").After(23 * time.Hour), nil, []time.Duration{0, 23*time.Hour + time.Minute}, 23*time.Hour + time.Minute},
		{beamtest.Accept("Ada").After(24 * time.Hour), ask.ErrTimeout, []time.Duration{0}, 24 * time.Hour},
		{beamtest.Decline().After(time.Hour), ask.ErrDeclined, []time.Duration{0}, time.Hour},
		{beamtest.Fail(ask.ErrTimeout), ask.ErrTimeout, []time.Duration{0}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			o := beamtest.Run(t, patient, nil, beamtest.Script{"name": test.response})
			if took := time.Since(began); !errors.Is(o.Err, test.want) || took != test.took {
				t.Errorf("it ended after %v with %v, want %v and %v", took, o.Err, test.took, test.want)
			}
			if !reflect.DeepEqual(o.At, test.at) {
				t.Errorf("the events came at %v, want %v", o.At, test.at)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			if o := beamtest.Replay(t, patient, nil, beamtest.Script{"name": test.response}); !errors.Is(o.Err, test.want) {
				t.Errorf("the replay ended with %v, want %v", o.Err, test.want)
			}
		})
	}
}

// Whoever stops the run doesn't wait for the person.
func TestStopBeforeTheResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		began := time.Now()
		o := beamtest.RunContext(ctx, t, patient, nil, beamtest.Script{"name": beamtest.Accept("Ada").After(2 * time.Hour)})
		if took := time.Since(began); !errors.Is(o.Err, generators.ErrStopped) || took != time.Hour {
			t.Errorf("it ended after %v with %v", took, o.Err)
		}
	})
}
