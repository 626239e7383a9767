package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// Ask returns an open question. The error is ErrNoAsk, ErrForbidden or, for one
// that was open once, ErrSettled.
func (e *Engine) Ask(ctx context.Context, who Caller, askID string) (Open, error) {
	r, seq, err := e.findAsk(who, askID)
	if err != nil {
		return Open{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.open(seq); a != nil {
		return r.show(ctx, a)
	}
	return Open{}, r.notOpen(ctx, seq)
}

func (e *Engine) findAsk(who Caller, askID string) (*record, uint64, error) {
	id, seq, ok := log.SplitAskID(askID)
	if !ok {
		return nil, 0, ErrNoAsk
	}
	r, err := e.find(who, id)
	if errors.Is(err, ErrNotFound) {
		err = ErrNoAsk
	}
	return r, seq, err
}

// notOpen tells a settled question from one that never was.
func (r *record) notOpen(ctx context.Context, seq uint64) error {
	for batch, err := range r.engine.log.Read(ctx, r.id, seq-1) {
		if err != nil {
			return err
		}
		if len(batch) > 0 && batch[0].Seq == seq && batch[0].Kind == log.KindAsked {
			return ErrSettled
		}
		break
	}
	return ErrNoAsk
}

// Answer settles a question; by names the surface that the answer came from.
// The first valid answer wins. The error is ErrNoAsk, ErrForbidden, ErrSettled,
// or a [*generators.InvalidError] with a message a field, after which the
// question is still open.
func (e *Engine) Answer(ctx context.Context, who Caller, askID string, a ask.Answer, by string) (err error) {
	open, err := e.Ask(ctx, who, askID)
	if err != nil {
		return err
	}
	r, seq, err := e.findAsk(who, askID)
	if err != nil {
		return err
	}
	done := e.tracer.Answer(ctx, r.subject(), seq)
	defer func() { done(err) }()
	if a, err = open.Question.Check(a); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open(seq) == nil {
		return r.notOpen(ctx, seq)
	}
	entry := log.Answered{Ask: seq, Answer: a, By: by}
	if open.Question.Kind == ask.KindSecret && a.Action == ask.Accept {
		if entry.Sealed, err = e.keys.seal(r.id, a.Content); err != nil {
			return err
		}
		entry.Answer.Content = nil
	}
	return r.conclude(ctx, seq, log.New(log.KindAnswered, entry))
}

// conclude appends the entry that settles a question. Callers hold mu.
func (r *record) conclude(ctx context.Context, seq uint64, entry log.Entry) error {
	// If another process has the run now, the batch counts no more, and the
	// question may be open still.
	if err := r.flush(context.WithoutCancel(ctx)); err != nil && !r.superseded(err) {
		return orSettled(err)
	}
	// Only now: the flush may have come upon another process's answer.
	if r.open(seq) == nil {
		return r.notOpen(ctx, seq)
	}
	return orSettled(r.append(ctx, entry))
}

// orSettled says of an answer that came after the run's end what it is.
func orSettled(err error) error {
	if errors.Is(err, errOver) {
		return ErrSettled
	}
	return err
}

// Upload stores a file for an open file question, of at most the size that the
// question allows; a larger one is a [*generators.InvalidError]. Its digest is
// for an [ask.FileRef] in the answer.
func (e *Engine) Upload(ctx context.Context, who Caller, askID string, content io.Reader) (digest string, size int64, err error) {
	open, err := e.Ask(ctx, who, askID)
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
	if r := e.index.get(open.Run); r != nil {
		r.mu.Lock()
		r.refer(digest, size)
		r.mu.Unlock()
	}
	if size > limit {
		e.Discard(open.Run, digest, size)
		err = &generators.InvalidError{Fields: []generators.FieldError{
			generators.At("file", fmt.Sprintf("must be at most %d bytes; this file is larger", limit))}}
	}
	return digest, size, err
}

// Discard takes an upload back that no answer names.
func (e *Engine) Discard(run, digest string, size int64) {
	r := e.index.get(run)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.release(digest, size) {
		return
	}
	if err := e.blobs.Remove(run, digest); err != nil {
		e.logger.Error("removing an upload", "run", run, "err", err)
	}
}

// expire withdraws a question whose time ran out.
func (r *record) expire(a *openAsk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx := r.engine.ctx
	if r.open(a.seq) != a || ctx.Err() != nil {
		return
	}
	err := r.conclude(ctx, a.seq, log.New(log.KindWithdrawn, log.Withdrawn{Ask: a.seq, Reason: log.Expired}))
	if err == nil || errors.Is(err, ErrSettled) || ctx.Err() != nil {
		return
	}
	r.engine.logger.Error("withdrawing an expired question", "run", r.id, "err", err)
	if r.open(a.seq) == a {
		a.due, a.live = time.Now().Add(longestWait), false
		r.engine.deadlines.add(a)
	}
}

// opener opens the run's files by their digests.
func (r *record) opener() func(string) (io.ReadCloser, error) {
	return func(digest string) (io.ReadCloser, error) { return r.engine.blobs.Open(r.id, digest) }
}

// deadline is when a question that is asked now expires.
func deadline(timeout time.Duration) time.Time {
	if timeout <= 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}
