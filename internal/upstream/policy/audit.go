package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/audit"
)

// An Audit is a file with a line of JSON for each thing that an upstream wanted of a
// person or a model: who was asked what by which upstream, and what came of it. It has
// no answers and no texts, but their sizes and digests. Its methods may be called
// from several goroutines. A nil *Audit records nothing.
type Audit struct{ log *audit.Log }

// AuditFile is the name of the audit file in a data folder. One older file is kept
// besides it, with the suffix ".1".
const AuditFile = "upstream-audit.jsonl"

// OpenAudit opens the audit file of a data folder. OnFail is called when a record
// can't be written, once until one can be written again; requests go on all the same.
func OpenAudit(dir string, onFail func(error)) (*Audit, error) {
	log, err := audit.OpenRotating(filepath.Join(dir, AuditFile), onFail)
	if err != nil {
		return nil, err
	}
	return &Audit{log}, nil
}

// Close closes the file.
func (a *Audit) Close() error {
	if a == nil {
		return nil
	}
	return a.log.Close()
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
	a.log.Write(r)
}
