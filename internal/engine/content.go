package engine

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// addContent adds to the end of a run the result that another server gave. A large one
// goes to the blob store. Callers hold mu.
func (w *worker) addContent(f *runlog.Finished) error {
	content, unkept := w.content.Result()
	if content == nil || f.Status != runlog.Completed && f.Status != runlog.Failed && f.Status != runlog.Unanswered {
		return nil
	}
	content = w.secrets.JSON(content)
	if unkept {
		w.engine.unkept.put(w.id, content, time.Now())
		return nil
	}
	f.ContentSize = int64(len(content))
	if len(content) <= maxInlineArtifact {
		f.Content = content
		return nil
	}
	return w.retryTransient(func() error {
		digest, size, err := w.storeBytes(content)
		if err == nil {
			w.addBlobBytes(size)
			f.ContentBlob = digest
		}
		return asToolError(err)
	})
}

// Content returns the result that another server gave to a run that has ended so; nil if
// there is none, or it is no longer kept. The error is [ErrRunNotFound], [ErrForbidden],
// or the file system's.
func (e *Engine) Content(caller generators.Caller, id string, end *runlog.Finished) (json.RawMessage, error) {
	if _, err := e.findRun(caller, id); err != nil {
		return nil, err
	}
	if end.ContentBlob == "" {
		if end.Content != nil {
			return end.Content, nil
		}
		return e.unkept.get(id, time.Now()), nil
	}
	f, err := e.openBlob(id, end.ContentBlob, resultFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// The limits of the results in memory that must not be in the log. They are kept for as
// long as a client may come back for them.
const (
	unkeptLifetime = 15 * time.Minute
	maxUnkeptBytes = 64 << 20
)

// unkeptContents holds the contents of runs that must not be in the log. Its zero value
// is empty. It may be used from several goroutines.
type unkeptContents struct {
	mu    sync.Mutex
	byRun map[string]unkeptContent
	order []string // the runs, oldest first
	bytes int
}

type unkeptContent struct {
	content json.RawMessage
	until   time.Time
}

func (u *unkeptContents) put(run string, content json.RawMessage, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byRun == nil {
		u.byRun = make(map[string]unkeptContent)
	}
	u.byRun[run] = unkeptContent{content, now.Add(unkeptLifetime)}
	u.order, u.bytes = append(u.order, run), u.bytes+len(content)
	for len(u.order) > 1 && (u.bytes > maxUnkeptBytes || u.byRun[u.order[0]].until.Before(now)) {
		u.bytes -= len(u.byRun[u.order[0]].content)
		delete(u.byRun, u.order[0])
		u.order = u.order[1:]
	}
}

func (u *unkeptContents) get(run string, now time.Time) json.RawMessage {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c, ok := u.byRun[run]; ok && now.Before(c.until) {
		return c.content
	}
	return nil
}
