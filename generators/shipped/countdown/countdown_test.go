package countdown_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/countdown"
)

// The photon reports its progress ten times per second.
func TestCountdown(t *testing.T) {
	for args, seconds := range map[string]int{`{}`: 10, `{"seconds":1}`: 1, `{"seconds":3600}`: 3600} {
		synctest.Test(t, func(t *testing.T) {
			p := beamtest.Run(t, countdown.Photon, args, nil)
			if got := beamtest.Decode[string](t, p); got != "lift-off" {
				t.Errorf("got %q", got)
			}
			if n := len(p.Events); n != 10*seconds+1 {
				t.Fatalf("%s: %d events, want %d", args, n, 10*seconds+1)
			}
			for n, e := range p.Events {
				left := (10*seconds - n + 9) / 10
				want := generators.Progress(float64(n)/10, float64(seconds), fmt.Sprintf("%d s left", left))
				if !reflect.DeepEqual(e, want) {
					t.Fatalf("event %d is %+v, want %+v", n, e, want)
				}
				if at := p.At[n]; at != time.Duration(n)*100*time.Millisecond {
					t.Fatalf("event %d came after %v", n, at)
				}
			}
		})
	}
}

// A slow reader gets fewer events, but the countdown doesn't take longer.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var events []generators.Event
		for e, err := range countdown.Photon.Run(t.Context(), json.RawMessage(`{"seconds":3}`)) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.(*generators.Result); !ok {
				events = append(events, e)
				time.Sleep(700 * time.Millisecond)
			}
		}
		last, ok := events[len(events)-1].(*generators.ProgressEvent)
		if !ok || last.Done != 3 || last.Text != "0 s left" {
			t.Errorf("the last event is %+v", last)
		}
		if took := time.Since(began); took > 5*time.Second || len(events) > 7 {
			t.Errorf("the countdown took %v and %d events", took, len(events))
		}
	})
}

// A stop, at an event or between two of them, ends the countdown at once.
func TestStop(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 250 * time.Millisecond, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			time.AfterFunc(after, stop)
			began, seen := time.Now(), 0
			for e, err := range countdown.Photon.Run(ctx, json.RawMessage(`{"seconds":60}`)) {
				if seen++; e == nil && !errors.Is(err, generators.ErrStopped) {
					t.Errorf("it ended with %v", err)
				}
			}
			if took := time.Since(began); took != after {
				t.Errorf("stopped after %v, it ended after %v", after, took)
			}
			if most := int(after/(100*time.Millisecond)) + 2; seen > most {
				t.Errorf("stopped after %v, there were %d events", after, seen)
			}
		})
	}
}

func TestBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, seen := time.Now(), 0
		for range countdown.Photon.Run(t.Context(), json.RawMessage(`{"seconds":60}`)) {
			if seen++; seen == 6 {
				break
			}
		}
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("left at the 6th event, it ended after %v", took)
		}
	})
}

func TestInvalidArguments(t *testing.T) {
	for _, args := range []string{`{"seconds":0}`, `{"seconds":-5}`, `{"seconds":3601}`, `{"seconds":0.5}`, `{"seconds":"10"}`, `{"minutes":1}`} {
		var invalid *generators.InvalidError
		if _, err := countdown.Photon.Check(json.RawMessage(args)); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v", args, err)
		}
	}
}
