package files

import (
	"encoding/json"
	"sync"
	"time"
)

// The limits of the results in memory that must not be in the log. They are kept for as
// long as a client may come back for them.
const (
	unkeptLifetime = 15 * time.Minute
	maxUnkeptBytes = 64 << 20
)

// Unkept holds the contents of runs that must not be in the log. Its zero value
// is empty. It may be used from several goroutines.
type Unkept struct {
	mu    sync.Mutex // guards what follows
	byRun map[string]unkeptContent
	order []string // the runs, oldest first
	bytes int
}

type unkeptContent struct {
	content json.RawMessage
	until   time.Time
}

// Put keeps the content of a run.
func (u *Unkept) Put(run string, content json.RawMessage, now time.Time) {
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

// Get returns the content of a run; nil if it is no longer kept.
func (u *Unkept) Get(run string, now time.Time) json.RawMessage {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c, ok := u.byRun[run]; ok && now.Before(c.until) {
		return c.content
	}
	return nil
}
