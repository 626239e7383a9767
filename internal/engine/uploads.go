package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
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
	e.uploaded.add(open.Run, digest, 1)
	if r, err := e.load(open.Run); err == nil {
		r.mu.Lock()
		r.addBlobBytes(size)
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
	e.uploaded.add(run, digest, -1)
	r, err := e.load(run)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		err = r.removeBlob(digest, size)
	}
	if err != nil && !errors.Is(err, ErrRunNotFound) {
		e.logger.Error("deleting an upload", "run", run, "err", err)
	}
}

// uploadedFiles counts how often each file was uploaded to a run that hasn't ended, so that
// none is deleted that somebody else has uploaded, too. Its methods may be called from several
// goroutines. The zero value has none.
type uploadedFiles struct {
	mu    sync.Mutex
	count map[string]map[string]int // by run and digest
}

// add adds n to the count of a file.
func (u *uploadedFiles) add(run, digest string, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.count == nil {
		u.count = make(map[string]map[string]int)
	}
	if u.count[run] == nil {
		u.count[run] = make(map[string]int)
	}
	u.count[run][digest] += n
}

// has reports whether a file has been uploaded.
func (u *uploadedFiles) has(run, digest string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.count[run][digest] > 0
}

// forget removes the files of a run.
func (u *uploadedFiles) forget(run string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.count, run)
}

// countDisk counts the files of all runs as disk of their owners. It deletes those of runs that
// don't exist: a process was killed before it came to that, or before it recorded their start.
func (e *Engine) countDisk(unreadable map[string]error) error {
	if e.blobs == nil {
		return nil
	}
	for id, err := range e.blobs.Runs() {
		if err != nil {
			return err
		}
		row, err := e.rows.Row(context.Background(), id)
		switch {
		case err == nil:
			e.disk.Add(row.Owner(), e.storedBlobs(id))
		case !errors.Is(err, runlog.ErrNotFound):
			return err
		case unreadable[id] == nil:
			e.logger.Info("deleting the files of a run that doesn't exist", "run", id)
			if err := e.blobs.DeleteRun(id); err != nil { // the others count all the same
				e.logger.Error("deleting the files of a run that doesn't exist", "run", id, "err", err)
			}
		}
	}
	return nil
}
