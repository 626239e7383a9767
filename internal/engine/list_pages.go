package engine

import (
	"iter"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A RunPosition is a place in the list of runs: after the run that started then and has
// that id, and which need not exist any more. The zero value is the list's beginning.
type RunPosition struct {
	Started time.Time
	ID      string
}

// Position returns the place after a run.
func (i *Info) Position() RunPosition { return RunPosition{i.Started, i.ID} }

// RunsAfter yields the runs that the caller may use, newest first, from a position on. They
// are without Asks, so that none of their logs is read. Runs that start meanwhile aren't
// among them.
func (e *Engine) RunsAfter(caller generators.Caller, p RunPosition) iter.Seq[Info] {
	var after *trackedRun
	if p.ID != "" {
		after = &trackedRun{id: p.ID, Run: runstate.Run{StartedAt: p.Started}}
	}
	return func(yield func(Info) bool) {
		for r := range e.index.runsAfter(caller, after) {
			r.mu.Lock()
			info, listed := r.info(), !r.startRefused
			r.mu.Unlock()
			if listed && info.LastSeq > 0 && !yield(info) {
				return
			}
		}
	}
}

// An AskPosition is a place in the list of open questions: after the question that was
// asked then and has that id, and which need not be open any more. The zero value is the
// list's beginning.
type AskPosition struct {
	Since time.Time
	ID    string
}

// Position returns the place after a question.
func (o *OpenAsk) Position() AskPosition { return AskPosition{o.Since, o.ID} }

// InboxAfter yields the open questions that the caller may answer, oldest first, from a
// position on. A question on an earlier list isn't read again; see [Engine.UpdateInbox].
func (e *Engine) InboxAfter(caller generators.Caller, p AskPosition, earlier []OpenAsk) iter.Seq[OpenAsk] {
	known := make(map[string]OpenAsk, len(earlier))
	for _, o := range earlier {
		known[o.ID] = o
	}
	var after *openAsk
	if run, seq, ok := runlog.SplitAskID(p.ID); ok {
		after = &openAsk{Ask: &runstate.Ask{AskedAt: p.Since}, deadline: deadline{run: &trackedRun{id: run}, seq: seq}}
	}
	return func(yield func(OpenAsk) bool) {
		for a := range e.index.answerableAsks(caller, after) {
			if o, ok := a.openAskForInbox(caller, known); ok && !yield(o) {
				return
			}
		}
	}
}

// Delete deletes a run that has ended, with its log and files. The error is
// [ErrRunNotFound], [ErrForbidden], [ErrRunNotEnded], [ErrRunInUse],
// [ErrDeletionPaused], or the log's.
func (e *Engine) Delete(caller generators.Caller, id string) error {
	r, err := e.findRun(caller, id)
	switch {
	case err != nil:
		return err
	case !r.hasEnded():
		return ErrRunNotEnded
	}
	end, err := e.deletions.begin()
	if err != nil {
		return err
	}
	defer end()
	if r.readerCount.Load() > 0 {
		return ErrRunInUse
	}
	return e.deleteRun(r)
}
