package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// OpenAsk returns an open question. The error is [ErrAskNotFound], [ErrForbidden],
// [ErrSettled] if the question is no longer open, or the log's.
func (e *Engine) OpenAsk(ctx context.Context, caller Caller, askID string) (OpenAsk, error) {
	r, seq, err := e.findAsk(caller, askID)
	if err != nil {
		return OpenAsk{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.findOpenAsk(seq); a != nil {
		return r.buildOpenAsk(ctx, a)
	}
	return OpenAsk{}, r.classifyClosedAsk(ctx, seq)
}

func (e *Engine) findAsk(caller Caller, askID string) (*trackedRun, uint64, error) {
	id, seq, ok := runlog.SplitAskID(askID)
	if !ok {
		return nil, 0, ErrAskNotFound
	}
	r, err := e.findRun(caller, id)
	if errors.Is(err, ErrRunNotFound) {
		err = ErrAskNotFound
	}
	return r, seq, err
}

// classifyClosedAsk returns ErrSettled if the entry with an ordinal is a question,
// which then has been settled, and otherwise ErrAskNotFound or the log's error.
func (r *trackedRun) classifyClosedAsk(ctx context.Context, seq uint64) error {
	for batch, err := range r.engine.log.Read(ctx, r.id, seq-1) {
		if err != nil {
			return err
		}
		if len(batch) > 0 && batch[0].Seq == seq && batch[0].Kind == runlog.KindAsked {
			return ErrSettled
		}
		break
	}
	return ErrAskNotFound
}

// Answer settles a question. The first valid answer wins. The surface that
// submitted the answer is recorded with it. The error is [ErrAskNotFound],
// [ErrForbidden], [ErrSettled], the log's, or a [*generators.InvalidError] with a
// message for each invalid field, after which the question is still open.
func (e *Engine) Answer(ctx context.Context, caller Caller, askID string, a ask.Answer, surface string) (err error) {
	open, err := e.OpenAsk(ctx, caller, askID)
	if err != nil {
		return err
	}
	r, seq, err := e.findAsk(caller, askID)
	if err != nil {
		return err
	}
	done := e.tracer.TraceAnswer(ctx, r.tracedRun(), seq)
	defer func() { done(err) }()
	if a, err = open.Question.Check(a); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.findOpenAsk(seq) == nil {
		return r.classifyClosedAsk(ctx, seq)
	}
	entry := runlog.Answered{AskSeq: seq, Answer: a, Surface: surface}
	if open.Question.Kind == ask.KindSecret && a.Action == ask.Accept {
		if entry.Sealed, err = e.keys.seal(r.id, a.Content); err != nil {
			return err
		}
		entry.Answer.Content = nil
	}
	return r.recordSettlement(ctx, seq, runlog.NewEntry(runlog.KindAnswered, entry))
}

// recordSettlement appends the entry that settles a question, after the events
// that wait in the worker's batch. Callers hold mu.
func (r *trackedRun) recordSettlement(ctx context.Context, seq uint64, entry runlog.Entry) error {
	// If another process has claimed the run, the batch is obsolete, but the
	// question may still be open.
	if err := r.flushAndAppend(context.WithoutCancel(ctx)); err != nil && !r.isSuperseded(err) {
		return asSettledError(err)
	}
	// Checked after the flush, which may have applied another process's answer.
	if r.findOpenAsk(seq) == nil {
		return r.classifyClosedAsk(ctx, seq)
	}
	return asSettledError(r.appendEntries(ctx, entry))
}

// asSettledError returns ErrSettled for errRunOver: the end of a run settles its
// questions.
func asSettledError(err error) error {
	if errors.Is(err, errRunOver) {
		return ErrSettled
	}
	return err
}

// Upload stores a file for an open file question and returns its digest, for an
// [ask.FileRef] in the answer, and its size in bytes. If the file is larger than
// the question allows, the error is a [*generators.InvalidError].
func (e *Engine) Upload(ctx context.Context, caller Caller, askID string, content io.Reader) (digest string, size int64, err error) {
	open, err := e.OpenAsk(ctx, caller, askID)
	if err != nil {
		return "", 0, err
	}
	if open.Question.File == nil {
		return "", 0, &generators.InvalidError{Fields: []generators.FieldError{generators.At("file", "this question does not ask for a file")}}
	}
	limit := open.Question.File.MaxSize
	digest, size, err = e.blobs.Put(ctx, open.Run, io.LimitReader(content, limit+1))
	if err != nil {
		return "", 0, err
	}
	if r := e.index.lookup(open.Run); r != nil {
		r.mu.Lock()
		r.addBlobRef(digest, size)
		r.mu.Unlock()
	}
	if size > limit {
		e.DiscardUpload(open.Run, digest, size)
		err = &generators.InvalidError{Fields: []generators.FieldError{
			generators.At("file", fmt.Sprintf("must be at most %d bytes; this file is larger", limit))}}
	}
	return digest, size, err
}

// DiscardUpload deletes an uploaded file that no answer refers to.
func (e *Engine) DiscardUpload(run, digest string, size int64) {
	r := e.index.lookup(run)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.removeBlobRef(digest, size) {
		return
	}
	if err := e.blobs.Remove(run, digest); err != nil {
		e.logger.Error("deleting an upload", "run", run, "err", err)
	}
}

// expireAsk withdraws a question whose deadline has passed.
func (r *trackedRun) expireAsk(a *openAsk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx := r.engine.ctx
	if r.findOpenAsk(a.seq) != a || ctx.Err() != nil {
		return
	}
	err := r.recordSettlement(ctx, a.seq, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.seq, Reason: runlog.Expired}))
	if err == nil || errors.Is(err, ErrSettled) || ctx.Err() != nil {
		return
	}
	r.engine.logger.Error("withdrawing an expired question", "run", r.id, "err", err)
	if r.findOpenAsk(a.seq) == a {
		a.expiresAt, a.callIsCurrent = time.Now().Add(maxRetryWait), false
		r.engine.deadlines.scheduleExpiry(a)
	}
}

// blobOpener returns a function that opens the run's files by digest.
func (r *trackedRun) blobOpener() func(string) (io.ReadCloser, error) {
	return func(digest string) (io.ReadCloser, error) { return r.engine.blobs.Open(r.id, digest) }
}

// deadlineAfter returns the deadline of a question that is asked now; zero if the
// question doesn't expire.
func deadlineAfter(timeout time.Duration) time.Time {
	if timeout <= 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}
