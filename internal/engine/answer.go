package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
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
	x.ensureChecked(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.FindAsk(seq); a != nil {
		return x.describeOpen(ctx, r, a, caller)
	}
	return OpenAsk{}, x.notOpenError(ctx, r.id, seq)
}

// Question returns a question that is or was asked. The error is [ErrAskNotFound],
// [ErrForbidden], or the log's.
func (x questions) Question(ctx context.Context, caller generators.Caller, askID string) (*askdata.Question, error) {
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
func (x questions) Answer(ctx context.Context, caller generators.Caller, askID string, a askdata.Answer, surface string) (err error) {
	return x.AnswerShown(ctx, caller, askID, a, surface, runlog.RenderedNothing)
}

// AnswerShown settles a question. The first valid answer wins. Who answered, on which
// surface, a digest of the question, and how much of what it shows the surface rendered
// are recorded with it. The error is [ErrAskNotFound], [ErrForbidden], [ErrOthersAnswer],
// [ErrSettled], [ErrParked], the log's, a [*budget.ExceededError] if too many runs work, or a
// [*generators.InvalidError] with a message for each invalid field; after the last two, the
// question is still open. If too many runs of the owner work, the answer waits in line as
// [WithMaxWait] says.
func (x questions) AnswerShown(ctx context.Context, caller generators.Caller, askID string, a askdata.Answer, surface string, rendered runlog.Rendering) (err error) {
	r, seq, err := x.findAsk(ctx, caller, askID)
	if err != nil {
		return err
	}
	x.ensureChecked(r)
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
func (x questions) recordAnswer(ctx context.Context, r *trackedRun, question *askdata.Question, entry runlog.Answered) error {
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
	if r.Parked != nil {
		return &ParkedError{r.Parked}
	}
	if !x.residents.countAhead(r) {
		return ErrMustWait
	}
	if question.Kind == askdata.KindSecret && entry.Answer.Action == askdata.Accept {
		if err := r.secretAnswers.seal(&entry); err != nil {
			return err
		}
	}
	return x.settle(ctx, r, seq, runlog.NewEntry(runlog.KindAnswered, entry))
}

// loadQuestion returns an open question that the caller may answer, and its recorded JSON.
// The error is that of [Engine.OpenAsk], or [ErrOthersAnswer].
func (x questions) loadQuestion(ctx context.Context, r *trackedRun, caller generators.Caller, seq uint64) (*askdata.Question, json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.FindAsk(seq)
	if a == nil {
		return nil, nil, x.notOpenError(ctx, r.id, seq)
	}
	if err := checkAdmits(r.listed(a), caller); err != nil {
		return nil, nil, err
	}
	if r.Parked != nil {
		return nil, nil, &ParkedError{r.Parked}
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
	if r.Parked != nil {
		return &ParkedError{r.Parked}
	}
	withdrawn := runlog.Withdrawn{AskSeq: seq, Reason: reason, Error: truncateText(text)}
	return x.settle(ctx, r, seq, runlog.NewEntry(runlog.KindWithdrawn, withdrawn))
}

// withdrawnReply returns the generator's reply for a withdrawn question, both live
// and in a replay.
func withdrawnReply(w runlog.Withdrawn) driver.Reply {
	e := &unansweredError{askSeq: w.AskSeq, detail: w.Error}
	switch w.Reason {
	case runlog.Expired:
		e.error = ask.ErrTimeout
		return driver.Reply{Err: e}
	case runlog.Unsupported:
		e.error = ask.ErrUnsupported
	case runlog.Invalid:
		e.error = ask.ErrInvalid
	case runlog.TakenBack:
		return driver.Reply{Err: fmt.Errorf("%w: %s", driver.ErrWithdrawn, w.Error)}
	default:
		return driver.Reply{Err: generators.ErrStopped}
	}
	if w.Error != "" {
		e.error = fmt.Errorf("%w: %s", e.error, w.Error)
	}
	return driver.Reply{Err: e}
}

// Upload stores a file for an open file question and returns its digest, for an
// [askdata.FileRef] in the answer, and its size in bytes. If the file is larger than
// the question allows, the error is a [*generators.InvalidError]; if too many uploads are in
// progress, or files take too much space, a [*budget.ExceededError].
func (x questions) Upload(ctx context.Context, caller generators.Caller, askID string, content io.Reader) (digest string, size int64, err error) {
	open, err := x.OpenAsk(ctx, caller, askID)
	if err != nil {
		return "", 0, err
	}
	if open.Question.File == nil {
		return "", 0, &generators.InvalidError{Fields: []generators.FieldError{driver.At("file", "this question does not ask for a file")}}
	}
	release, err := x.uploads.Acquire(caller.ID)
	if err != nil {
		return "", 0, err
	}
	defer release()
	limit := open.Question.File.MaxSize
	digest, size, err = x.files.Upload(ctx, open.Run, open.Owner, content, limit)
	if err != nil {
		return "", 0, err
	}
	if r, err := x.load(open.Run); err == nil {
		r.mu.Lock()
		r.Files.AddUpload(size)
		r.mu.Unlock()
	}
	if size > limit {
		x.DiscardUpload(open.Run, digest, size)
		err = &generators.InvalidError{Fields: []generators.FieldError{
			driver.At("file", fmt.Sprintf("must be at most %d bytes; this file is larger", limit))}}
	}
	return digest, size, err
}

// DiscardUpload deletes an uploaded file that no answer refers to.
func (x questions) DiscardUpload(run, digest string, size int64) {
	r, err := x.load(run)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		err = r.Files.RemoveUpload(digest, size)
	}
	if err != nil && !errors.Is(err, ErrRunNotFound) {
		x.logger.Error("deleting an upload", "run", run, "err", err)
	}
}

// handleDeadlines expires the questions of a run that are due, and ends its sleeps. If that
// can't be recorded, it returns how long to wait before another attempt.
func (x questions) handleDeadlines(run string, now time.Time) (wait time.Duration) {
	r, err := x.load(run)
	if err != nil {
		return x.retryDeadline(run, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range slices.Clone(r.Asks) {
		if !a.Deadline.IsZero() && !a.Deadline.After(now) {
			wait = max(wait, x.retryDeadline(run, x.expireAsk(r, a)))
		}
	}
	for _, s := range slices.Clone(r.Sleeps) {
		if !s.Until.After(now) {
			wait = max(wait, x.retryDeadline(run, x.endSleep(r, s)))
		}
	}
	return wait
}

// retryDeadline returns how long to wait after an error before the next attempt; 0 if there is
// nothing more to do.
func (x questions) retryDeadline(run string, err error) time.Duration {
	switch {
	case err == nil || x.ctx.Err() != nil || errors.Is(err, ErrSettled) || errors.Is(err, journal.ErrOver) || errors.Is(err, ErrRunNotFound):
		return 0
	case IsTransient(err):
		return retryInterval
	}
	x.logger.Error("expiring a question, or ending a sleep", "run", run, "err", err)
	return maxRetryWait
}

// expireAsk withdraws a question whose deadline has passed. Callers hold r.mu.
func (x questions) expireAsk(r *trackedRun, a *runstate.Ask) error {
	if r.FindAsk(a.Seq) != a {
		return nil
	}
	return x.settle(x.ctx, r, a.Seq, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.Seq, Reason: runlog.Expired}))
}

// deadlineAfter returns the deadline of a question that is asked now; zero if the
// question doesn't expire.
func deadlineAfter(timeout time.Duration) time.Time {
	if timeout <= 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}

// endSleep records the end of a sleep whose time has come. Callers hold r.mu.
func (x questions) endSleep(r *trackedRun, s *runstate.Sleep) error {
	ctx := x.ctx
	// If another process has claimed the run, the batch is obsolete, but the sleep may
	// still be in progress.
	if err := r.flushAndAppend(ctx); err != nil && !r.isSuperseded(err) {
		return err
	}
	if r.FindSleep(s.Seq) != s {
		return nil
	}
	return r.Append(ctx, runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: s.Seq}))
}
