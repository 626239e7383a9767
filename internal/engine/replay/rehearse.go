package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/recordedvalue"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// RehearsalTime bounds a rehearsal.
const RehearsalTime = time.Second

// A Rehearsal runs a generator up to where its log ends: it gives it the recorded replies, runs
// no step, and records nothing. Code outside of steps runs, as in every replay.
type Rehearsal struct {
	History   *History
	Generator driver.Run
	// Secrets returns the secrets of the answers that were given so far.
	Secrets func() mask.Secrets
	// Go calls a function in a goroutine. It may return later than Run, as the generator does.
	Go func(func())
	// Attempts are those of steps without an outcome, by the steps' keys.
	Attempts map[string]*runstate.Attempt

	held map[string]bool // the goroutines that stand before a step that isn't recorded
}

// A verdict is how a rehearsal ends: it has found out how the generator differs, or that it
// doesn't, or it can't.
type verdict struct {
	differs error
	decided bool
}

// Run returns how the generator differs from the log: a [*DiffersError], or nil if it makes all
// recorded calls again. It reports false if that wasn't found out in time, or can't be without
// running a step.
func (r *Rehearsal) Run(ctx context.Context) (differs error, decided bool) {
	r.held = make(map[string]bool)
	r.Generator.SetRecordedKeys(slices.AppendSeq(r.History.Keys(), maps.Keys(r.Attempts)), r.findKey)
	ctx, cancel := context.WithTimeout(ctx, RehearsalTime)
	defer cancel()
	found := make(chan verdict, 1)
	r.Go(func() {
		for e, err := range r.Generator.All {
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
		r.Generator.Stop(generators.ErrSuspended) // it may take as long as it likes to return
		return nil, false
	}
}

// handle handles what the generator yields. It returns nil if the generator is to go on.
func (r *Rehearsal) handle(e any, err error) *verdict {
	if _, ok := e.(*generators.Result); ok || err != nil {
		return r.judgeEnd(err)
	}
	if r.History.IsDone() {
		return &verdict{decided: true}
	}
	if c, ok := e.(*driver.Call); ok {
		return r.handleCall(c)
	}
	return nil
}

// handleCall replies to a call as the log has it.
func (r *Rehearsal) handleCall(c *driver.Call) *verdict {
	goroutine := r.Generator.Goroutine()
	if r.held[goroutine] {
		c.Settle(driver.Reply{Err: generators.ErrSuspended})
		return nil
	}
	past, err := r.History.Take(c, r.Secrets(), goroutine)
	switch {
	case err != nil:
		return &verdict{err, true}
	case past == nil && c.Kind == driver.StepKind:
		r.held[goroutine] = true
		c.Settle(driver.Reply{Err: generators.ErrSuspended})
	case past == nil:
	case past.reply != nil:
		reply, _ := past.Reply(c.Key)
		c.Settle(reply)
	case r.History.IsDone():
		return &verdict{decided: true}
	case !c.Concurrent && !c.More: // it waits here, where the recorded code had done more
		first, names := r.History.describeUnreplayed()
		return &verdict{r.History.differsErrorf(first, "it now waits at the call %q (%s) without having made %s", r.Secrets().Key(c.Key), c.Kind, names), true}
	}
	return nil
}

// judgeEnd judges a generator that has returned, with an error if it isn't nil.
func (r *Rehearsal) judgeEnd(err error) *verdict {
	if unfit, ok := errors.AsType[*recordedvalue.Error](err); ok {
		return &verdict{ToolChangedErrorf("%v", unfit), true}
	}
	if len(r.held) > 0 || r.Generator.Concurrent() || errors.Is(err, generators.ErrSuspended) {
		return &verdict{decided: r.History.IsDone()}
	}
	return &verdict{r.History.CheckAllReplayed(), true}
}

// findKey returns the unique key of the recorded call that a goroutine makes now with a key; see
// [driver.Run.SetRecordedKeys].
func (r *Rehearsal) findKey(goroutine, given string) string {
	secrets := r.Secrets()
	for _, g := range []string{given, secrets.Key(given)} {
		if key := r.History.FindKey(goroutine, g, r.Attempts); key != "" {
			return given + strings.TrimPrefix(key, g)
		}
	}
	return ""
}

// CheckedRuns has the runs that were found to fit this program, or not, and the epochs of their
// latest claims: what is recorded until the next claim changes nothing. The methods may be called
// from several goroutines.
type CheckedRuns struct {
	mu     sync.Mutex
	epochs map[string]int // by the runs' ids
}

// maxChecked bounds CheckedRuns. A run that was forgotten is checked again.
const maxChecked = 100_000

// Add adds a run, with the epoch of its latest claim.
func (c *CheckedRuns) Add(run string, epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epochs == nil || len(c.epochs) >= maxChecked {
		c.epochs = make(map[string]int)
	}
	c.epochs[run] = epoch
}

// Has reports whether a run was found to fit or not, with its latest claim.
func (c *CheckedRuns) Has(run string, epoch int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	checked, ok := c.epochs[run]
	return ok && checked == epoch
}

// CheckVersion returns an error if the photon's version differs from the one that
// the run began with. A run without a recorded version may continue.
func CheckVersion(s *runlog.Started, p *generators.Photon) error {
	then, now := s.Version, p.Options().Version
	if then == "" || then == now {
		return nil
	}
	if now == "" {
		now = "an unnamed version"
	} else {
		now = fmt.Sprintf("version %q", now)
	}
	return ToolChangedErrorf("it was version %q then, and is %s now", then, now)
}

// CheckArguments returns an error if the photon's input schema no longer accepts
// the run's arguments.
func CheckArguments(p *generators.Photon, args json.RawMessage) error {
	_, err := p.Check(args)
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return ToolChangedErrorf("its arguments are no longer valid: %v", invalid)
}

// HasPassed reports whether the call of a patch is at a place that the earlier run passed without
// it.
func (s *Source) HasPassed(c *driver.Call) bool {
	if s == nil || s.fork == nil || !c.Patch || !s.unpatched[c.GivenKey] && (s.byKey[c.Key] != nil || s.left == 0 || s.ended) {
		return false
	}
	if s.unpatched == nil {
		s.unpatched = make(map[string]bool)
	}
	s.unpatched[c.GivenKey] = true
	return true
}

// shown returns the key of a call as people may see it.
func (s *Source) shown(c *driver.Call) string {
	if s.Mask != nil {
		return quoteKey(s.Mask(c.Key))
	}
	return quoteKey(c.Key)
}
