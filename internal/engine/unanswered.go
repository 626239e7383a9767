package engine

import (
	"errors"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/runlog"
)

// An unansweredError is the error of a question that was settled without an answer. It
// tells which question ended a run, however the generator wrapped the error.
type unansweredError struct {
	error
	askSeq uint64
	detail string // why nobody could be asked, or what was wrong with the answers
	by     string // who declined or dismissed it, if that isn't the run's owner
}

func (e *unansweredError) Unwrap() error { return e.error }

// nameOfOther returns what people call a caller, or "" for the run's owner and for an
// unknown caller.
func (r *trackedRun) nameOfOther(c *generators.Caller) string {
	if c == nil || c.ID == r.owner() {
		return ""
	}
	return callers.Describe(c.ID, c.Name)
}

// unansweredEnd returns the end of a run whose generator returned the error of a
// question without an answer. It reports false for other errors. Callers hold mu.
func (w *worker) unansweredEnd(err error) (f runlog.Finished, ok bool) {
	cause := err
	var e *unansweredError
	if errors.As(err, &e) {
		cause = e
	}
	for _, u := range runlog.UnansweredErrors {
		if !errors.Is(cause, u.Err) {
			continue
		}
		f.Status, f.Ask = runlog.Unanswered, &runlog.UnansweredAsk{Reason: u.Reason}
		if text := err.Error(); text != cause.Error() || e == nil && err != u.Err {
			f.Error = w.secrets.Text(text)
		}
		if e != nil {
			f.Ask.Seq, f.Ask.Detail, f.By = e.askSeq, truncateText(e.detail), e.by
			f.Ask.Message = w.questionMessage(e.askSeq)
		}
		return f, true
	}
	return f, false
}

// questionMessage returns the message of a question as people saw it, with secrets
// masked; empty if the log can't be read for good. Callers hold mu.
func (w *worker) questionMessage(seq uint64) (message string) {
	err := w.retryTransient(func() error {
		asked, err := w.core.readAsked(w.core.ctx, w.id, seq)
		if err != nil {
			return err
		}
		q := asked.Question
		if q.Kind == ask.KindSample {
			version, err := readApproved(w.core.ctx, w.core.files, w.id, seq)
			if err != nil {
				return err
			}
			if version != nil {
				q = runlog.Revise(q, version)
			}
		}
		message = truncateText(q.Message)
		return nil
	})
	if err != nil {
		w.core.logger.Error("reading the question that ended a run", "run", w.id, "err", err)
	}
	return message
}
