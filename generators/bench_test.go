package generators_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// BenchmarkEvent measures an event from the generator to the loop. The target is less
// than 100 ns, with no allocation except the event.
func BenchmarkEvent(b *testing.B) {
	p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
		for range b.N {
			yield(generators.Status("on"))
		}
		return 0, nil
	})
	b.ReportAllocs()
	for _, err := range driver.Prepare(b.Context(), p, json.RawMessage("{}")).All {
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEventFromChan measures the same over a channel.
func BenchmarkEventFromChan(b *testing.B) {
	p := generators.FromChan("p", func(_ context.Context, _ noInput, events chan<- generators.Event) (int, error) {
		for range b.N {
			events <- generators.Status("on")
		}
		return 0, nil
	}, nil)
	b.ReportAllocs()
	for _, err := range driver.Prepare(b.Context(), p, json.RawMessage("{}")).All {
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStep measures a step that does nothing.
func BenchmarkStep(b *testing.B) {
	p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
		for i := range b.N {
			if _, err := generators.Step(yield, strconv.Itoa(i), func(context.Context) (int, error) { return 1, nil }); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	b.ReportAllocs()
	for _, err := range driver.Prepare(b.Context(), p, json.RawMessage("{}")).All {
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeStatus(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := driver.Encode(generators.Status("looking up the account")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	s, err := generators.ParseSchema(json.RawMessage(orderSchema))
	if err != nil {
		b.Fatal(err)
	}
	value := json.RawMessage(`{"id":"ab","mail":"ada@example.org","items":[{"sku":"a","n":1}],"count":4}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(value); err != nil {
			b.Fatal(err)
		}
	}
}
