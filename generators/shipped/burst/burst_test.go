package burst_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/burst"
)

func run(t testing.TB, args string) *beamtest.Outcome {
	t.Helper()
	return beamtest.Run(t, burst.Photon, args, nil)
}

// The photon sends the requested number of events, in order.
func TestEventsInOrder(t *testing.T) {
	for args, want := range map[string]int{
		`{"events":1}`: 1, `{"events":9}`: 9, `{"events":10}`: 10, `{"events":11}`: 11, `{}`: 10_000, `{"events":100000}`: 100_000,
	} {
		p := run(t, args)
		if got := beamtest.Decode[burst.Output](t, p); got.Events != want || len(p.Events) != want {
			t.Errorf("%s: %d events, and a result of %d, want %d", args, len(p.Events), got.Events, want)
		}
		for i, e := range p.Events {
			if err := checkEvents(e, i+1, want); err != nil {
				t.Fatalf("%s: %v", args, err)
			}
		}
	}
}

func checkEvents(e generators.Event, n, of int) error {
	want := fmt.Sprintf("event %d", n)
	switch e := e.(type) {
	case *generators.StatusEvent:
		if n%10 != 0 && e.Text == want {
			return nil
		}
	case *generators.ProgressEvent:
		if n%10 == 0 && e.Text == want && e.Done == float64(n) && e.Total == float64(of) {
			return nil
		}
	}
	return fmt.Errorf("event %d of %d is %#v", n, of, e)
}

func TestInvalidArguments(t *testing.T) {
	for _, args := range []string{`{"events":0}`, `{"events":-1}`, `{"events":100001}`, `{"events":1.5}`, `{"events":"10"}`, `{"events":null}`, `{"n":1}`} {
		var invalid *generators.InvalidError
		if _, err := burst.Photon.Check(json.RawMessage(args)); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v", args, err)
		}
	}
}

// A stop, from inside or outside of the loop, ends the events.
func TestStop(t *testing.T) {
	seen := 0
	for range burst.Photon.Run(t.Context(), json.RawMessage(`{"events":100000}`)) {
		if seen++; seen == 5 {
			break
		}
	}
	if seen != 5 {
		t.Errorf("%d events before the stop, want 5", seen)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	seen = 0
	var last error
	for e, err := range burst.Photon.Run(ctx, json.RawMessage(`{"events":100000}`)) {
		if last = err; e != nil {
			seen++
		}
		if seen == 5 {
			stop()
		}
	}
	if seen != 5 || !errors.Is(last, generators.ErrStopped) {
		t.Errorf("%d events and then %v, want 5 and a stop", seen, last)
	}
}

func BenchmarkBurst(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for range burst.Photon.Run(b.Context(), json.RawMessage(`{"events":10000}`)) {
		}
	}
}
