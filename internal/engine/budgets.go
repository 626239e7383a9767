package engine

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
)

// Budgets returns the budgets that the engine keeps, for metrics.
func (e *Engine) Budgets() []*budget.Budget {
	return []*budget.Budget{e.residents.working, e.uploads, e.disk}
}

// Upload stores a file for an open file question and returns its digest, for an
// [ask.FileRef] in the answer, and its size in bytes. If the file is larger than
// the question allows, the error is a [*generators.InvalidError]; if too many uploads are in
// progress, or files take too much space, a [*budget.ExceededError].
func (x questions) Upload(ctx context.Context, caller generators.Caller, askID string, content io.Reader) (digest string, size int64, err error) {
	open, err := x.OpenAsk(ctx, caller, askID)
	if err != nil {
		return "", 0, err
	}
	if open.Question.File == nil {
		return "", 0, &generators.InvalidError{Fields: []generators.FieldError{generators.At("file", "this question does not ask for a file")}}
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
			generators.At("file", fmt.Sprintf("must be at most %d bytes; this file is larger", limit))}}
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
