package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/photon-beam/beam/generators"
)

type nameArgs struct {
	Name string `json:"name" minLength:"1"`
}

type countArgs struct {
	Count int `json:"count" minimum:"1" maximum:"100000"`
}

type point struct {
	X int    `json:"x"`
	Y int    `json:"y"`
	Z string `json:"z,omitempty"`
}

// workingPhotons returns the photons that ask nothing.
func workingPhotons() []*generators.Photon {
	return slices.Concat(returningPhotons(), notifyingPhotons(), waitingPhotons())
}

// returningPhotons returns photons that return a value or fail at once.
func returningPhotons() []*generators.Photon {
	return []*generators.Photon{
		newPhoton("string", func(context.Context, none, generators.Yield) (string, error) { return "a string", nil }),
		newPhoton("array", func(context.Context, none, generators.Yield) ([]int, error) { return []int{1, 2, 3}, nil }),
		newPhoton("object", func(context.Context, none, generators.Yield) (point, error) { return point{X: 1, Y: 2}, nil }),
		newPhoton("fails", func(context.Context, none, generators.Yield) (point, error) {
			return point{}, errors.New("the disk is full")
		}),
		newPhoton("panics", func(context.Context, none, generators.Yield) (point, error) { panic("oh") }),
	}
}

// notifyingPhotons returns photons that yield events other than questions.
func notifyingPhotons() []*generators.Photon {
	return []*generators.Photon{
		newPhoton("progress", func(_ context.Context, in countArgs, yield generators.Yield) (string, error) {
			for i := range in.Count {
				yield(generators.Progress(float64(i+1), float64(in.Count), fmt.Sprint("step ", i+1)))
			}
			return fmt.Sprint(in.Count, " steps"), nil
		}),
		newPhoton("logs", func(_ context.Context, in countArgs, yield generators.Yield) (string, error) {
			for i := range in.Count {
				yield(generators.Log(generators.Info, map[string]any{"line": i + 1}))
			}
			yield(generators.LogTo("other", generators.Warning, "careful"))
			yield(generators.Log(generators.Debug, "details"))
			return "logged", nil
		}),
		newPhoton("artifacts", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
			yield(generators.Markdown("Notes", "# Notes"))
			yield(generators.Image("A picture", "image/png", []byte("\x89PNG\r\n\x1a\n")))
			yield(generators.File("data.csv", "text/csv", []byte("a,b\n1,2\n")))
			yield(generators.File("data.bin", "application/octet-stream", []byte{0, 1, 2}))
			return "made", nil
		}),
	}
}

// waitingPhotons returns photons that wait, and one that says what they did.
func waitingPhotons() []*generators.Photon {
	return []*generators.Photon{
		// slow works until it is cancelled.
		newPhoton("slow", func(ctx context.Context, in nameArgs, yield generators.Yield) (string, error) {
			defer markDeferred(in.Name)
			yield(generators.Progress(1, 2, "begun"))
			<-ctx.Done()
			return "", ctx.Err()
		}),
		// await waits until a mark is set, and count returns how often it was set.
		newPhoton("await", func(ctx context.Context, in nameArgs, _ generators.Yield) (string, error) {
			return in.Name, marks.wait(ctx, in.Name)
		}),
		newPhoton("count", func(_ context.Context, in nameArgs, _ generators.Yield) (int, error) {
			return marks.count(in.Name), nil
		}),
	}
}

// markDeferred records that a deferred function ran, for the tests.
func markDeferred(name string) {
	marks.set(name)
	fmt.Fprintln(os.Stderr, "left", name)
}

// marks record what happened, by name.
var marks = markBoard{changed: make(chan struct{}), counts: map[string]int{}}

type markBoard struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each mark
	counts  map[string]int
}

func (b *markBoard) set(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[name]++
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *markBoard) count(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[name]
}

func (b *markBoard) wait(ctx context.Context, name string) error {
	for {
		b.mu.Lock()
		n, changed := b.counts[name], b.changed
		b.mu.Unlock()
		if n > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
