package engine_test

import (
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
)

// The methods below are those of the engine, whose error fails the test.

func (b *testEngine) Runs(c generators.Caller, limit int, keep func(engine.Info) bool) []engine.Info {
	b.t.Helper()
	return must(b.Engine.Runs(c, limit, keep))(b)
}

func (b *testEngine) Inbox(c generators.Caller, limit int) []engine.OpenAsk {
	b.t.Helper()
	return must(b.Engine.Inbox(c, limit))(b)
}

// updateInbox returns the inbox of a caller that has an earlier list.
func (b *testEngine) updateInbox(c generators.Caller, earlier []engine.OpenAsk) (open []engine.OpenAsk) {
	b.t.Helper()
	for o, err := range b.InboxAfter(c, engine.Position{}, earlier) {
		open = append(open, must(o, err)(b))
	}
	return open
}

func (b *testEngine) CountOpenAsks(c generators.Caller) int {
	b.t.Helper()
	return must(b.Engine.CountOpenAsks(c))(b)
}

func (b *testEngine) CountUnanswerable() int {
	b.t.Helper()
	return must(b.Engine.CountUnanswerable())(b)
}

func (b *testEngine) Counts() engine.Counts {
	b.t.Helper()
	return must(b.Engine.Counts())(b)
}

func (b *testEngine) CountOpenAsksByAge(bounds ...time.Duration) ([]int, time.Duration) {
	b.t.Helper()
	open, oldest, err := b.Engine.CountOpenAsksByAge(bounds...)
	if err != nil {
		b.t.Error(err)
	}
	return open, oldest
}

// must returns a function that returns v, and fails the test if err isn't nil.
func must[T any](v T, err error) func(*testEngine) T {
	return func(b *testEngine) T {
		b.t.Helper()
		if err != nil {
			b.t.Error(err)
		}
		return v
	}
}
