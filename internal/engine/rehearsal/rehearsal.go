package rehearsal

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/recordedvalue"
	"github.com/photon-beam/beam/internal/runstate"
)

// MaxTime bounds the rehearsal of a run.
const MaxTime = time.Second

// A rehearsal runs a generator up to where its log ends: it gives it the recorded replies, runs
// no step, and records nothing. Code outside of steps runs, as in every replay.
type rehearsal struct {
	history   *replay.History
	generator driver.Run
	// secrets returns those of the answers that were given so far.
	secrets func() mask.Secrets
	// goes calls a function in a goroutine. It may return later than run, as the generator does.
	goes func(func())
	// attempts are those of steps without an outcome, by the steps' keys.
	attempts map[string]*runstate.Attempt

	held map[string]bool // the goroutines that stand before a step that isn't recorded
}

// A verdict is how a rehearsal ends: it has found out how the generator differs, or that it
// doesn't, or it can't.
type verdict struct {
	differs error
	decided bool
}

// run returns how the generator differs from the log: a [*replay.DiffersError], or nil if it makes all
// recorded calls again. It reports false if that wasn't found out in time, or can't be without
// running a step.
func (r *rehearsal) run(ctx context.Context) (differs error, decided bool) {
	r.held = make(map[string]bool)
	r.generator.SetRecordedKeys(slices.AppendSeq(r.history.Keys(), maps.Keys(r.attempts)), func(goroutine, given string) string {
		return r.history.FindUniqueKey(goroutine, given, r.secrets(), r.attempts)
	})
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	found := make(chan verdict, 1)
	r.goes(func() {
		for e, err := range r.generator.All {
			if v := r.handle(e, err); v != nil {
				found <- *v
				return
			}
		}
	})
	select {
	case v := <-found:
		return v.differs, v.decided
	case <-ctx.Done():
		r.generator.Stop(generators.ErrSuspended) // it may take as long as it likes to return
		return nil, false
	}
}

// handle handles what the generator yields. It returns nil if the generator is to go on.
func (r *rehearsal) handle(e any, err error) *verdict {
	if _, ok := e.(*generators.Result); ok || err != nil {
		return r.judgeEnd(err)
	}
	if r.history.IsDone() {
		return &verdict{decided: true}
	}
	if c, ok := e.(*driver.Call); ok {
		return r.handleCall(c)
	}
	return nil
}

// handleCall replies to a call as the log has it.
func (r *rehearsal) handleCall(c *driver.Call) *verdict {
	goroutine := r.generator.Goroutine()
	if r.held[goroutine] {
		c.Settle(driver.Reply{Err: generators.ErrSuspended})
		return nil
	}
	past, err := r.history.Take(c, r.secrets(), goroutine)
	switch {
	case err != nil:
		return &verdict{err, true}
	case past == nil && c.Kind == driver.StepKind:
		r.held[goroutine] = true
		c.Settle(driver.Reply{Err: generators.ErrSuspended})
	case past == nil:
	case r.reply(c, past):
	case r.history.IsDone():
		return &verdict{decided: true}
	case !c.Concurrent && !c.More: // it waits here, where the recorded code had done more
		return &verdict{r.history.WaitsTooEarly(c, r.secrets()), true}
	}
	return nil
}

// reply replies to a call as the log has it. It reports false if the log has no reply.
func (r *rehearsal) reply(c *driver.Call, past *replay.Call) bool {
	reply, ok := past.Reply(c.Key)
	if ok {
		c.Settle(reply)
	}
	return ok
}

// judgeEnd judges a generator that has returned, with an error if it isn't nil.
func (r *rehearsal) judgeEnd(err error) *verdict {
	if unfit, ok := errors.AsType[*recordedvalue.Error](err); ok {
		return &verdict{replay.ToolChangedErrorf("%v", unfit), true}
	}
	if len(r.held) > 0 || r.generator.Concurrent() || errors.Is(err, generators.ErrSuspended) {
		return &verdict{decided: r.history.IsDone()}
	}
	return &verdict{r.history.CheckAllReplayed(), true}
}
