package engine

import (
	"context"
	"fmt"
	"io"

	"github.com/photon-beam/beam/generators"
)

// Upload stores a file for an open file question and returns its digest, for an
// [ask.FileRef] in the answer, and its size in bytes. If the file is larger than
// the question allows, the error is a [*generators.InvalidError]; if too many uploads are in
// progress, or files take too much space, a [*budget.ExceededError].
func (e *Engine) Upload(ctx context.Context, caller generators.Caller, askID string, content io.Reader) (digest string, size int64, err error) {
	open, err := e.OpenAsk(ctx, caller, askID)
	if err != nil {
		return "", 0, err
	}
	if open.Question.File == nil {
		return "", 0, &generators.InvalidError{Fields: []generators.FieldError{generators.At("file", "this question does not ask for a file")}}
	}
	release, err := e.uploads.Acquire(caller.ID)
	if err != nil {
		return "", 0, err
	}
	defer release()
	limit := open.Question.File.MaxSize
	source := &diskReader{Reader: io.LimitReader(content, limit+1), disk: e.disk, owner: open.Owner}
	defer source.release()
	digest, size, err = e.blobs.Put(ctx, open.Run, source)
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

// countUploads counts the uploaded files of all runs that no entry refers to, because
// no answer has used them yet.
func (e *Engine) countUploads() error {
	for id, err := range e.blobs.Runs() {
		if err != nil {
			return err
		}
		if r := e.index.lookup(id); r != nil {
			if err := r.countUploads(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *trackedRun) countUploads() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.State.Ended() && r.blobRefs != nil {
		return nil // storedBytes uses the folder's size, and nothing is uploaded any more
	}
	for b, err := range r.engine.blobs.RunBlobs(r.id) {
		if err != nil {
			return err
		}
		if r.blobRefs[b.Digest] == 0 {
			r.addBlobRef(b.Digest, b.Size)
		}
	}
	return nil
}
