package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// An Audit is a file with a line of JSON for each thing that an upstream wanted of a
// person or a model: who was asked what by which upstream, and what came of it. It has
// no answers and no texts, but their sizes and digests. Its methods may be called
// from several goroutines. A nil *Audit records nothing.
type Audit struct {
	path     string
	maxBytes int64

	mu     sync.Mutex
	file   *os.File
	size   int64
	failed bool // the last write failed, and was told
	onFail func(error)
}

// AuditFile is the name of the audit file in a data folder. One older file is kept
// besides it, with the suffix ".1".
const AuditFile = "upstream-audit.jsonl"

// maxAuditBytes is the size at which a new audit file is begun.
const maxAuditBytes = 16 << 20

// OpenAudit opens the audit file of a data folder. OnFail is called when a record
// can't be written, once until one can be written again; requests go on all the same.
func OpenAudit(dir string, onFail func(error)) (*Audit, error) {
	a := &Audit{path: filepath.Join(dir, AuditFile), maxBytes: maxAuditBytes, onFail: onFail}
	if err := a.open(); err != nil {
		return nil, fmt.Errorf("the audit file can't be opened: %w", err)
	}
	return a, nil
}

func (a *Audit) open() error {
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
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
	a.file, a.size = f, info.Size()
	return nil
}

// Close closes the file.
func (a *Audit) Close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}

// An AuditRecord is one line of the audit file.
type AuditRecord struct {
	Time     time.Time  `json:"time"`
	Upstream string     `json:"upstream"`
	Tool     string     `json:"tool,omitempty"` // which asked
	Run      string     `json:"run,omitempty"`
	Ask      string     `json:"ask,omitempty"`
	Kind     string     `json:"kind"`              // of the question, or the method of a refused request
	Person   string     `json:"person,omitempty"`  // the id of the run's owner
	By       string     `json:"by,omitempty"`      // the id of who answered, if it is somebody else
	Surface  string     `json:"surface,omitempty"` // where it was answered
	Outcome  AskOutcome `json:"outcome"`
	Reason   string     `json:"reason,omitempty"`
	Fields   []string   `json:"fields,omitempty"` // names
	Question *Digest    `json:"question,omitempty"`
	Answer   *Digest    `json:"answer,omitempty"` // its size alone
	OpenFor  int64      `json:"openForMs,omitempty"`
}

// A Digest stands for a text that isn't recorded.
type Digest struct {
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
}

// DigestOf returns the size and digest of a text.
func DigestOf(text []byte) *Digest {
	sum := sha256.Sum256(text)
	return &Digest{len(text), hex.EncodeToString(sum[:])}
}

// Write records r. It sets the time if r has none.
func (a *Audit) Write(r AuditRecord) {
	if a == nil {
		return
	}
	if r.Time.IsZero() {
		r.Time = time.Now().UTC()
	}
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("upstream: encoding an audit record: %v", err)) // texts and numbers
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return
	}
	err = a.append(append(line, '\n'))
	if err != nil && !a.failed {
		a.onFail(err)
	}
	a.failed = err != nil
}

// append appends a line, and first begins a new file if it would be too large.
func (a *Audit) append(line []byte) error {
	if a.size+int64(len(line)) > a.maxBytes && a.size > 0 {
		if err := errors.Join(a.file.Close(), os.Rename(a.path, a.path+".1")); err != nil {
			return errors.Join(err, a.open())
		}
		if err := a.open(); err != nil {
			return err
		}
	}
	n, err := a.file.Write(line)
	a.size += int64(n)
	return err
}
