package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/photon-beam/beam/internal/call"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// rehearseHistory returns why a run doesn't fit this program, or nil if it does; see core.rehearse.
func (c *core) rehearseHistory(ctx context.Context, id string, s *runlog.Started, h *replay.History, secrets func() mask.Secrets, attempts map[string]*runstate.Attempt) (parked *runlog.Parked, decided bool) {
	p, parked := c.checkPhoton(s)
	if parked != nil {
		return parked, true
	}
	if err := replay.CheckArguments(p, h.Args); err != nil {
		return &runlog.Parked{Reason: runlog.ParkedInput, Detail: err.Error()}, true
	}
	if h.IsDone() || p.Options().Definition != nil {
		return nil, true
	}
	rehearsal := replay.Rehearsal{History: h, Generator: driver.Prepare(c.generatorContext(id, h.Caller, nil), p, h.Args), Secrets: secrets, Attempts: attempts, Go: c.workers.Go}
	rehearsal.Generator.SetID(id)
	differs, decided := rehearsal.Run(ctx)
	if differs != nil {
		parked = parkedFor(differs)
		parked.Detail = secrets().Text(parked.Detail)
	}
	return parked, decided
}

// An UnfinishedRun is a durable run that has not ended, as another program rehearses it.
type UnfinishedRun struct {
	ID      string         `json:"run"`
	Entries []runlog.Entry `json:"entries"` // with all data
	// Secrets are the contents of secret answers, by the ordinals of their questions. Those that
	// can't be read are missing.
	Secrets map[uint64]json.RawMessage `json:"secrets,omitempty"`
}

// UnfinishedRuns yields the durable runs that have not ended. A run that can't be read is logged and
// left out; another error ends them. secrets says whether they have the contents of secret answers.
func (l lists) UnfinishedRuns(ctx context.Context, secrets bool) iter.Seq2[UnfinishedRun, error] {
	all := func(ctx context.Context, after Position, limit int) ([]*runlist.Row, error) {
		return l.rows.RunsOf(ctx, "", after, limit)
	}
	return func(yield func(UnfinishedRun, error) bool) {
		if m, ok := l.rows.(*runlist.Memory); ok {
			if _, err := m.ReadAll(ctx); err != nil {
				yield(UnfinishedRun{}, err)
				return
			}
		}
		for row, err := range pages.Each(all, pages.StartOf) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(UnfinishedRun{}, err)
				return
			}
			if row.State.Ended() || !row.Start.Durable {
				continue
			}
			run, err := l.readUnfinished(ctx, row.ID, secrets)
			if err != nil {
				l.logger.Warn("a run can't be rehearsed", "run", row.ID, "err", err)
			} else if !yield(run, nil) {
				return
			}
		}
	}
}

func (l lists) readUnfinished(ctx context.Context, id string, secrets bool) (UnfinishedRun, error) {
	run := UnfinishedRun{ID: id}
	sealed := runSecrets{run: id, keys: l.keys}
	for batch, err := range l.files.Read(ctx, id, 0) {
		if err != nil {
			return run, err
		}
		run.Entries = append(run.Entries, batch...)
		for _, e := range batch {
			if !secrets || e.Kind != runlog.KindAnswered {
				continue
			}
			if a, err := runlog.Decode[runlog.Answered](e); err == nil && a.Sealed != nil && sealed.unseal(&a) == nil {
				if run.Secrets == nil {
					run.Secrets = make(map[uint64]json.RawMessage)
				}
				run.Secrets[a.AskSeq] = a.Answer.Content
			}
		}
	}
	return run, nil
}

// A Rehearsed is what [Rehearse] finds out about a run.
type Rehearsed struct {
	Run, Photon string
	Parked      *runlog.Parked // why the run would be parked; nil if it would go on
	Undecided   bool           // it would go on at first, but a rehearsal doesn't tell how far
}

// Rehearse finds out which of some runs would go on with the photons of this program. Nothing is
// recorded and no step runs, but code outside of steps does. Of the options, it needs Photons,
// Program and Root. It calls found with each run, one after the other. The error is the
// sequence's, or ctx's.
func Rehearse(ctx context.Context, o Options, runs iter.Seq2[UnfinishedRun, error], found func(Rehearsed)) error {
	c := newCore(o)
	var mu sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for run, err := range runs {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(err, work.Wait())
		}
		work.Go(func() error {
			r := c.rehearseRecorded(ctx, run)
			mu.Lock()
			defer mu.Unlock()
			found(r)
			return nil
		})
	}
	return work.Wait()
}

// rehearseRecorded rehearses a run of which only the log is here.
func (c *core) rehearseRecorded(ctx context.Context, run UnfinishedRun) Rehearsed {
	var state runstate.Run
	var secrets mask.Secrets
	var isMissing atomic.Bool // a secret or a file
	h := replay.New(c.program, replay.Replies{Withdrawn: withdrawnReply, Answered: func(a runlog.Answered) call.Reply {
		if a.Sealed != nil {
			a.Answer.Content = run.Secrets[a.AskSeq]
			if a.Answer.Content == nil {
				isMissing.Store(true)
			}
			secrets = secrets.Add(a.AskSeq, a.Answer.Content)
		}
		reply := a.Answer.Reply()
		reply.By = a.Caller
		reply.Open = func(string) (io.ReadCloser, error) {
			isMissing.Store(true)
			return nil, errors.New("files aren't read in a rehearsal")
		}
		return reply
	}})
	for _, e := range run.Entries {
		if _, err := state.Apply(e); err == nil {
			err = e.Visit(h)
			if err != nil {
				return Rehearsed{Run: run.ID, Photon: state.Start.Photon, Undecided: true}
			}
		}
	}
	parked, decided := c.rehearseHistory(ctx, run.ID, &state.Start, h, func() mask.Secrets { return secrets }, state.Attempts)
	if isMissing.Load() && parked != nil && parked.Reason == runlog.ParkedChanged {
		parked, decided = nil, false
	}
	return Rehearsed{run.ID, state.Start.Photon, parked, !decided}
}
