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

// OpenAsk returns an open question. The error is ErrNoAsk, ErrForbidden or, for one
// that was open once, ErrSettled.
func (e *Engine) OpenAsk(ctx context.Context, who Caller, askID string) (OpenAsk, error) {
	r, seq, err := e.findAsk(who, askID)
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

func (e *Engine) findAsk(who Caller, askID string) (*trackedRun, uint64, error) {
	id, seq, ok := runlog.SplitAskID(askID)
	if !ok {
		return nil, 0, ErrAskNotFound
	}
	r, err := e.findRun(who, id)
	if errors.Is(err, ErrRunNotFound) {
		err = ErrAskNotFound
	}
	return r, seq, err
}

// classifyClosedAsk tells a settled question from one that never was.
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

// Answer settles a question; by names the surface that the answer came from.
// The first valid answer wins. The error is ErrNoAsk, ErrForbidden, ErrSettled,
// or a [*generators.InvalidError] with a message a field, after which the
// question is still open.
func (e *Engine) Answer(ctx context.Context, who Caller, askID string, a ask.Answer, by string) (err error) {
	open, err := e.OpenAsk(ctx, who, askID)
	if err != nil {
		return err
	}
	r, seq, err := e.findAsk(who, askID)
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
	entry := runlog.Answered{AskSeq: seq, Answer: a, Surface: by}
	if open.Question.Kind == ask.KindSecret && a.Action == ask.Accept {
		if entry.Sealed, err = e.keys.seal(r.id, a.Content); err != nil {
			return err
		}
		entry.Answer.Content = nil
	}
	return r.recordSettlement(ctx, seq, runlog.NewEntry(runlog.KindAnswered, entry))
}

// recordSettlement appends the entry that settles a question. Callers hold mu.
func (r *trackedRun) recordSettlement(ctx context.Context, seq uint64, entry runlog.Entry) error {
	// If another process has the run now, the batch counts no more, and the
	// question may be open still.
	if err := r.flushAndAppend(context.WithoutCancel(ctx)); err != nil && !r.isSuperseded(err) {
		return asSettledError(err)
	}
	// Only now: the flush may have come upon another process's answer.
	if r.findOpenAsk(seq) == nil {
		return r.classifyClosedAsk(ctx, seq)
	}
	return asSettledError(r.appendEntries(ctx, entry))
}

// asSettledError says of an answer that came after the run's end what it is.
func asSettledError(err error) error {
	if errors.Is(err, errRunOver) {
		return ErrSettled
	}
	return err
}

// Upload stores a file for an open file question, of at most the size that the
// question allows; a larger one is a [*generators.InvalidError]. Its digest is
// for an [ask.FileRef] in the answer.
func (e *Engine) Upload(ctx context.Context, who Caller, askID string, content io.Reader) (digest string, size int64, err error) {
	open, err := e.OpenAsk(ctx, who, askID)
	if err != nil {
		return "", 0, err
	}
	if open.Question.File == nil {
		return "", 0, &generators.InvalidError{Fields: []generators.FieldError{generators.At("file", "this question asks for no file")}}
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

// DiscardUpload takes an upload back that no answer names.
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
		e.logger.Error("removing an upload", "run", run, "err", err)
	}
}

// expireAsk withdraws a question whose time ran out.
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

// blobOpener opens the run's files by their digests.
func (r *trackedRun) blobOpener() func(string) (io.ReadCloser, error) {
	return func(digest string) (io.ReadCloser, error) { return r.engine.blobs.Open(r.id, digest) }
}

// deadlineAfter is when a question that is asked now expires.
func deadlineAfter(timeout time.Duration) time.Time {
	if timeout <= 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}
