package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runlog"
)

// ReplaySurface is the surface of answers that are taken from an earlier run.
const ReplaySurface = "replay"

// ErrInputUnknown means that the log doesn't have a run's input.
var ErrInputUnknown = errors.New("the input of this run is not recorded")

// recordedAnswers are the answers of an earlier run that its replay is to get. The run's mu
// guards them.
type recordedAnswers struct {
	from string
	left []runlog.RecordedAsk
}

// Replay starts a run of the same photon with the same input as an earlier one, whose
// questions up to the entry with the ordinal until are answered as they were then; those
// that were answered with secrets or files, or not at all, and all later ones are asked.
// If the run asks something else, that question says so, and it and all later ones are
// asked. Somebody who agreed to what can't be undone agreed to that run only: a destructive
// confirmation is asked, unless it was declined. The answers are the caller's, who must be
// one who may give them, and are in memory only: a run that is resumed by another process
// asks. Replay sets the photon and the arguments of req.
//
// The error is that of [Engine.Start], [ErrRunNotFound], or [ErrInputUnknown].
func (e *Engine) Replay(ctx context.Context, caller generators.Caller, id string, until uint64, req StartRequest) (Info, error) {
	var err error
	if req.Photon, req.Args, err = e.Input(ctx, caller, id); err != nil {
		return Info{}, err
	}
	var asks runlog.RecordedAsks
	batches, err := e.Read(ctx, caller, id, 0)
	if err != nil {
		return Info{}, err
	}
	for batch, err := range e.loadSpilledBatches(id, batches) {
		if err != nil {
			return Info{}, err
		}
		for _, entry := range batch {
			if err := asks.Add(entry); err != nil {
				return Info{}, err
			}
		}
	}
	past := slices.DeleteFunc(asks.List, func(a runlog.RecordedAsk) bool { return a.Seq > until })
	req.answers = &recordedAnswers{id, past}
	return e.Start(ctx, caller, req)
}

// Input returns the photon of a run and its arguments. The error is [ErrRunNotFound],
// [ErrForbidden], [ErrInputUnknown], or the log's.
func (e *Engine) Input(ctx context.Context, caller generators.Caller, id string) (photon string, args json.RawMessage, err error) {
	batches, err := e.Read(ctx, caller, id, 0)
	if err != nil {
		return "", nil, err
	}
	for batch, err := range e.loadSpilledBatches(id, batches) {
		if err != nil {
			return "", nil, err
		}
		started, err := runlog.Decode[runlog.Started](batch[0])
		if err == nil && rawjson.TypeName(started.Args) != rawjson.ObjectType { // a note that it isn't recorded
			err = ErrInputUnknown
		}
		return started.Photon, started.Args, err
	}
	return "", nil, ErrRunNotFound
}

// take returns the answer to a question that is about to be asked; nil if it is asked. It
// says why if the question isn't one of the earlier run's.
func (r *recordedAnswers) take(kind string, asked runlog.Asked) (answer *ask.Answer, differs string) {
	if r == nil || len(r.left) == 0 {
		return nil, ""
	}
	i := slices.IndexFunc(r.left, func(a runlog.RecordedAsk) bool { return a.Key == asked.Key })
	const all = " It and all further questions are asked."
	if i < 0 {
		next := r.left[0]
		differs = fmt.Sprintf("This call, %s (%s), differs: run %s made the call %s (%s) here.", quoteKey(asked.Key), kind, shortRun(r.from), quoteKey(next.Key), next.Question.Kind) + all
		r.left = nil
		return nil, differs
	}
	past := r.left[i]
	question, err := json.Marshal(asked.Question)
	if err != nil || !bytes.Equal(question, past.Raw) || asked.Evidence != past.Evidence {
		differs = fmt.Sprintf("This call, %s, differs: run %s asked something else there, or showed something else.", quoteKey(asked.Key), shortRun(r.from)) + all
		r.left = nil
		return nil, differs
	}
	r.left = slices.Delete(r.left, i, i+1)
	if past.Question.Destructive && past.Answer != nil && past.Answer.Action == ask.Accept {
		return nil, ""
	}
	return past.Answer, ""
}

func quoteKey(key string) string { return strconv.Quote(humanize.Truncate(key, 60)) }

func shortRun(id string) string { return id[:min(len(id), 4)] }

// answerAgain answers a question that was just asked as an earlier run's was, for who started
// the run. If that isn't possible, the question is asked. Callers hold mu.
func (w *worker) answerAgain(c *generators.Call, a ask.Answer) {
	e, r, open := w.engine, w.trackedRun, w.askOf(c)
	if open == nil {
		return
	}
	e.workers.Go(func() {
		err := e.AnswerShown(e.ctx, r.Start.StartedBy(), runlog.AskID(r.id, open.Seq), a, ReplaySurface, runlog.RenderedNothing)
		if err == nil || errors.Is(err, ErrSettled) {
			return
		}
		e.logger.Info("a recorded answer can't be given again", "run", r.id, "err", err)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.FindAsk(open.Seq) == open {
			r.notifySample(open)
		}
	})
}
