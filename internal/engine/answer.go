package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/runlog"
)

// questions answer and withdraw questions. The methods may be called from several goroutines.
type questions struct{ *core }

// OpenAsk returns an open question. The error is [ErrAskNotFound], [ErrForbidden],
// [ErrSettled] if the question is no longer open, or the log's.
func (x questions) OpenAsk(ctx context.Context, caller generators.Caller, askID string) (OpenAsk, error) {
	r, seq, err := x.findAsk(ctx, caller, askID)
	if err != nil {
		return OpenAsk{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.FindAsk(seq); a != nil {
		return x.describeOpen(ctx, r, a, caller)
	}
	return OpenAsk{}, x.notOpenError(ctx, r.id, seq)
}

// Question returns a question that is or was asked. The error is [ErrAskNotFound],
// [ErrForbidden], or the log's.
func (x questions) Question(ctx context.Context, caller generators.Caller, askID string) (*ask.Question, error) {
	r, seq, err := x.findAsk(ctx, caller, askID)
	if err != nil {
		return nil, err
	}
	asked, err := x.readAsked(ctx, r.id, seq)
	if errors.Is(err, runlog.ErrNotFound) {
		err = ErrAskNotFound
	}
	return asked.Question, err
}

// notOpenError returns the error for a question that is not open: ErrSettled if the
// log has it, which then has been settled, and otherwise ErrAskNotFound or the log's
// error.
func (x questions) notOpenError(ctx context.Context, run string, seq uint64) error {
	switch entry, err := x.files.ReadEntry(ctx, run, seq); {
	case errors.Is(err, runlog.ErrNotFound) || err == nil && entry.Kind != runlog.KindAsked:
		return ErrAskNotFound
	case err != nil:
		return err
	}
	return ErrSettled
}

// Answer is [Engine.AnswerShown] for a surface that has rendered nothing of what the
// question shows.
func (x questions) Answer(ctx context.Context, caller generators.Caller, askID string, a ask.Answer, surface string) (err error) {
	return x.AnswerShown(ctx, caller, askID, a, surface, runlog.RenderedNothing)
}

// AnswerShown settles a question. The first valid answer wins. Who answered, on which
// surface, a digest of the question, and how much of what it shows the surface rendered
// are recorded with it. The error is [ErrAskNotFound], [ErrForbidden], [ErrOthersAnswer],
// [ErrSettled], the log's, a [*budget.ExceededError] if too many runs work, or a
// [*generators.InvalidError] with a message for each invalid field; after the last two, the
// question is still open. If too many runs of the owner work, the answer waits in line as
// [WithMaxWait] says.
func (x questions) AnswerShown(ctx context.Context, caller generators.Caller, askID string, a ask.Answer, surface string, rendered runlog.Rendering) (err error) {
	r, seq, err := x.findAsk(ctx, caller, askID)
	if err != nil {
		return err
	}
	question, recorded, err := x.loadQuestion(ctx, r, caller, seq)
	if errors.Is(err, ErrOthersAnswer) {
		refused := r.auditEvent(audit.AnswerRefused, caller)
		refused.Ask, refused.Surface, refused.Action = askID, surface, string(a.Action)
		x.audit.Record(refused)
	}
	if err != nil {
		return err
	}
	done := x.tracer.TraceAnswer(ctx, r.tracedRun(), seq)
	defer func() { done(err) }()
	if a, err = question.Check(a); err != nil {
		return err
	}
	entry := runlog.Answered{AskSeq: seq, Answer: a, Surface: surface, Caller: &caller, Shown: runlog.DigestQuestion(recorded)}
	if len(question.Evidence) > 0 {
		entry.Evidence = rendered
	}
	return x.residents.inTurn(ctx, r, func(takenFrom string) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		x.residents.countTaken(r, takenFrom)
		defer x.residents.recount(r)
		return x.recordAnswer(ctx, r, question, entry)
	})
}

// recordAnswer records an answer, unless the question has been settled in the meantime, or
// isn't this caller's any more. The error may be ErrMustWait. Callers hold mu, and then call
// recount.
func (x questions) recordAnswer(ctx context.Context, r *trackedRun, question *ask.Question, entry runlog.Answered) error {
	caller, seq := *entry.Caller, entry.AskSeq
	open := r.FindAsk(seq)
	if open == nil {
		return x.notOpenError(ctx, r.id, seq)
	}
	if err := checkAdmits(r.listed(open), caller); err != nil { // another caller has adopted the run in the meantime
		return err
	}
	if reservesForOwner(question, caller, r.owner()) {
		return &OthersAnswerError{r.ownerName()}
	}
	if !x.residents.countAhead(r) {
		return ErrMustWait
	}
	if question.Kind == ask.KindSecret && entry.Answer.Action == ask.Accept {
		if err := r.secretAnswers.seal(&entry); err != nil {
			return err
		}
	}
	return x.settle(ctx, r, seq, runlog.NewEntry(runlog.KindAnswered, entry))
}

// loadQuestion returns an open question that the caller may answer, and its recorded JSON.
// The error is that of [Engine.OpenAsk], or [ErrOthersAnswer].
func (x questions) loadQuestion(ctx context.Context, r *trackedRun, caller generators.Caller, seq uint64) (*ask.Question, json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.FindAsk(seq)
	if a == nil {
		return nil, nil, x.notOpenError(ctx, r.id, seq)
	}
	if err := checkAdmits(r.listed(a), caller); err != nil {
		return nil, nil, err
	}
	if asked, ok := r.askedFromCall(a); ok {
		recorded, err := json.Marshal(asked.Question)
		return asked.Question, recorded, err
	}
	asked, err := x.readAsked(ctx, r.id, seq)
	return asked.Question, asked.raw, err
}

// settle appends the entry that settles a question, after the events
// that wait in the worker's batch. Callers hold mu.
func (x questions) settle(ctx context.Context, r *trackedRun, seq uint64, entry runlog.Entry) error {
	// If another process has claimed the run, the batch is obsolete, but the
	// question may still be open.
	if err := r.flushAndAppend(context.WithoutCancel(ctx)); err != nil && !r.isSuperseded(err) {
		return asSettledError(err)
	}
	// Checked after the flush, which may have applied another process's answer.
	if r.FindAsk(seq) == nil {
		return x.notOpenError(ctx, r.id, seq)
	}
	return asSettledError(r.Append(ctx, entry))
}

// asSettledError returns ErrSettled for journal.ErrOver: the end of a run settles its
// questions.
func asSettledError(err error) error {
	if errors.Is(err, journal.ErrOver) {
		return ErrSettled
	}
	return err
}

// Withdraw settles an open question without an answer, because a surface can't
// present it ([runlog.Unsupported]) or received no valid answer
// ([runlog.Invalid]). text is the cause, for people. It is recorded and is part
// of the error that the generator receives, which is [ask.ErrUnsupported] or
// [ask.ErrInvalid]. The error is [ErrAskNotFound], [ErrForbidden], [ErrSettled],
// or the log's.
func (x questions) Withdraw(ctx context.Context, caller generators.Caller, askID string, reason runlog.WithdrawReason, text string) error {
	r, seq, err := x.findAsk(ctx, caller, askID)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isUsableBy(caller) {
		return ErrForbidden
	}
	withdrawn := runlog.Withdrawn{AskSeq: seq, Reason: reason, Error: truncateText(text)}
	return x.settle(ctx, r, seq, runlog.NewEntry(runlog.KindWithdrawn, withdrawn))
}

// withdrawnReply returns the generator's reply for a withdrawn question, both live
// and in a replay.
func withdrawnReply(w runlog.Withdrawn) generators.Reply {
	e := &unansweredError{askSeq: w.AskSeq, detail: w.Error}
	switch w.Reason {
	case runlog.Expired:
		e.error = ask.ErrTimeout
		return generators.Reply{Err: e}
	case runlog.Unsupported:
		e.error = ask.ErrUnsupported
	case runlog.Invalid:
		e.error = ask.ErrInvalid
	case runlog.TakenBack:
		return generators.Reply{Err: fmt.Errorf("%w: %s", generators.ErrWithdrawn, w.Error)}
	default:
		return generators.Reply{Err: generators.ErrStopped}
	}
	if w.Error != "" {
		e.error = fmt.Errorf("%w: %s", e.error, w.Error)
	}
	return generators.Reply{Err: e}
}
