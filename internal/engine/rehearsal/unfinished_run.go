package rehearsal

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

	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// An UnfinishedRun is a durable run that has not ended, as [Program.RehearseAll] rehearses it.
type UnfinishedRun struct {
	ID      string         `json:"run"`
	Entries []runlog.Entry `json:"entries"` // with all data
	// Secrets are the contents of secret answers, by the ordinals of their questions. Those that
	// can't be read are missing.
	Secrets map[uint64]json.RawMessage `json:"secrets,omitempty"`
}

// An Outcome is what a rehearsal finds out about a run.
type Outcome struct {
	Run, Photon string
	Parked      *runlog.Parked // why the run would be parked; nil if it would go on
	Undecided   bool           // it would go on at first, but a rehearsal doesn't tell how far
}

// RehearseAll finds out which of some runs would go on with the program, several at a time. It calls
// found with each, one after the other. The error is the sequence's, or ctx's.
func (p *Program) RehearseAll(ctx context.Context, runs iter.Seq2[UnfinishedRun, error], found func(Outcome)) error {
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
			o := p.rehearseUnfinished(ctx, run)
			mu.Lock()
			defer mu.Unlock()
			found(o)
			return nil
		})
	}
	return work.Wait()
}

// rehearseUnfinished rehearses a run of which only the log is here.
func (p *Program) rehearseUnfinished(ctx context.Context, run UnfinishedRun) Outcome {
	var state runstate.Run
	var secrets mask.Secrets
	var isMissing atomic.Bool // a secret or a file
	h := replay.New(p.Digest, replay.Replies{Withdrawn: p.Withdrawn, Answered: func(a runlog.Answered) driver.Reply {
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
		_, err := state.Apply(e)
		if err == nil {
			err = e.Visit(h)
		}
		if err != nil {
			return Outcome{Run: run.ID, Photon: state.Start.Photon, Undecided: true}
		}
	}
	parked, decided := p.Rehearse(ctx, Run{run.ID, &state.Start, h, state.Attempts, func() mask.Secrets { return secrets }})
	if isMissing.Load() && parked != nil && parked.Reason == runlog.ParkedChanged {
		parked, decided = nil, false
	}
	return Outcome{run.ID, state.Start.Photon, parked, !decided}
}
