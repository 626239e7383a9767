// Package audit keeps an audit file: a line of JSON for each thing that an operator may
// have to account for. It has no answers, no secrets and no texts of questions.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/photon-beam/beam/generators"
)

// A Log is an audit file that only its owner can read. Its methods may be called from
// several goroutines. A nil *Log records nothing.
type Log struct {
	path     string
	maxBytes int64
	keepAll  bool

	mu         sync.Mutex
	file       *os.File
	size       int64
	failed     bool // the last write failed, and was told
	onFail     func(error)
	failures   atomic.Int64
	refusals   *rate.Limiter // of events that anybody can cause
	suppressed int64         // refusals since the last that was recorded
}

// maxBytes is the size at which a new file is begun.
const maxBytes = 16 << 20

// Open opens an audit file. A file that would become larger than 16 MiB is renamed: it gets
// the time as suffix, as in FILE.20261122T201105.123456789, and Beam never deletes it. OnFail
// is called when something can't be recorded, once until something can be recorded again;
// what is audited goes on all the same.
func Open(path string, onFail func(error)) (*Log, error) { return open(path, true, onFail) }

// OpenRotating is [Open] for a file of which only one older one is kept, with the suffix
// ".1".
func OpenRotating(path string, onFail func(error)) (*Log, error) { return open(path, false, onFail) }

func open(path string, keepAll bool, onFail func(error)) (*Log, error) {
	l := &Log{path: path, maxBytes: maxBytes, keepAll: keepAll, onFail: onFail, refusals: rate.NewLimiter(maxRefusals, maxRefusals)}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("the audit file can't be opened: %w", err)
	}
	return l, nil
}

func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Close closes the file.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Failures returns how many records could not be written.
func (l *Log) Failures() int64 {
	if l == nil {
		return 0
	}
	return l.failures.Load()
}

// The kinds of events.
const (
	SignedIn        = "signed in"
	SignInRefused   = "sign-in refused"
	SignedOut       = "signed out everywhere"
	UsersChanged    = "users changed"
	Answered        = "answered"
	RunStopped      = "run stopped"
	RunAdopted      = "run adopted"
	AnswerRefused   = "answer refused" // by somebody who may not answer
	maxRefusals     = 10               // of SignInRefused and AnswerRefused, a second
	maxReasonLength = 500
)

// An Event is one line of an audit file.
type Event struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Caller  string    `json:"caller,omitempty"` // the id
	Name    string    `json:"name,omitempty"`   // of the caller
	Roles   []string  `json:"roles,omitempty"`
	Address string    `json:"address,omitempty"` // from which a request came
	By      string    `json:"by,omitempty"`      // how somebody signed in: link, token, OpenID Connect, …
	Run     string    `json:"run,omitempty"`
	Ask     string    `json:"ask,omitempty"`
	Photon  string    `json:"photon,omitempty"`
	Surface string    `json:"surface,omitempty"`
	Action  string    `json:"action,omitempty"` // of an answer
	// Question is the digest of the question that was answered, as the log has it.
	Question string   `json:"question,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Changes  []string `json:"changes,omitempty"`
	// Suppressed is how many refusals before this one were not recorded, because there were
	// too many at once.
	Suppressed int64 `json:"suppressed,omitempty"`
}

// Of returns an event of a caller.
func Of(kind string, c generators.Caller) Event {
	return Event{Kind: kind, Caller: c.ID, Name: c.Name, Roles: c.Roles}
}

// Record records an event now. Refusals, which anybody can cause, are recorded at most ten
// times a second.
func (l *Log) Record(e Event) {
	if l == nil {
		return
	}
	e.Time = time.Now().UTC()
	if len(e.Reason) > maxReasonLength {
		e.Reason = e.Reason[:maxReasonLength]
	}
	if e.Kind == SignInRefused || e.Kind == AnswerRefused {
		l.mu.Lock()
		allowed := l.refusals.Allow()
		if allowed {
			e.Suppressed, l.suppressed = l.suppressed, 0
		} else {
			l.suppressed++
		}
		l.mu.Unlock()
		if !allowed {
			return
		}
	}
	l.Write(e)
}

// Write records a value as a line of JSON.
func (l *Log) Write(record any) {
	if l == nil {
		return
	}
	line, err := json.Marshal(record)
	if err != nil {
		panic(fmt.Sprintf("audit: encoding a record: %v", err)) // texts and numbers
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	err = l.append(append(line, '\n'))
	if err != nil {
		l.failures.Add(1)
		if !l.failed {
			l.onFail(err)
		}
	}
	l.failed = err != nil
}

// append appends a line, and first begins a new file if it would be too large.
func (l *Log) append(line []byte) error {
	if l.size+int64(len(line)) > l.maxBytes && l.size > 0 {
		older := l.path + ".1"
		if l.keepAll {
			older = l.path + time.Now().UTC().Format(".20060102T150405.000000000")
		}
		if err := errors.Join(l.file.Close(), os.Rename(l.path, older)); err != nil {
			return errors.Join(err, l.open())
		}
		if err := l.open(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return err
}
