// Command photons is the program that the crash tests kill while its photons sleep, wait for
// each other, or do what the checker knows.
package main

import (
	"context"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/checker/photons"
)

func main() { beam.Main(append(photons.All(), nap, lock)...) }

// A napping says how long to sleep.
type napping struct {
	Millis int `json:"millis"`
}

var nap = generators.New("nap", func(_ context.Context, in napping, yield generators.Yield) (string, error) {
	err := generators.Sleep(yield, "nap", time.Duration(in.Millis)*time.Millisecond)
	return "rested", err
}, &generators.Options{Durable: true})

// A locking says which key to hold.
type locking struct {
	Key string `json:"key"`
}

var lock = generators.New("lock", func(_ context.Context, in locking, yield generators.Yield) (string, error) {
	return ask.Text(yield, "word", "Which word?")
}, &generators.Options{Durable: true, Exclusive: func(in locking) string { return in.Key }})
