package oldlog

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

var errBadMessage = errors.New("invalid message")

// decodeMessage decodes a message, which is one append:
//
//	version  byte, 1, or 2 if an entry has a goroutine or a step
//	flags    byte; 1: its last entry ends the run
//	first    uvarint, the ordinal of its first entry
//	count    uvarint
//	run      with its length as uvarint before it
//	entries  seconds varint, nanoseconds uvarint, then kind, blob and data and,
//	         in version 2, goroutine and step, each with its length as uvarint
//	         before it
//
// It appends the entries to buf. Their data shares the memory of msg.
func decodeMessage(msg []byte, buf []runlog.Entry) (run string, entries []runlog.Entry, err error) {
	const newest = 2
	if len(msg) < 2 || msg[0] == 0 {
		return "", buf, errBadMessage
	}
	if msg[0] > newest {
		return "", buf, fmt.Errorf("%w: a message has version %d", ErrNewerFormat, msg[0])
	}
	r := messageReader{rest: msg[2:]}
	first, count := r.uvarint(), r.uvarint()
	run = string(r.bytes())
	if first == 0 || count == 0 || first+count < first {
		return "", buf, errBadMessage
	}
	for seq := first; seq < first+count && !r.failed; seq++ {
		e := runlog.Entry{Seq: seq, Time: time.Unix(r.varint(), int64(r.uvarint())), Kind: runlog.Kind(r.bytes()), Blob: string(r.bytes())}
		if data := r.bytes(); len(data) > 0 {
			e.Data = data
		}
		if msg[0] == newest {
			e.Goroutine, e.Step = string(r.bytes()), string(r.bytes())
		}
		buf = append(buf, e)
	}
	if r.failed || len(r.rest) > 0 {
		return "", buf, errBadMessage
	}
	return run, buf, nil
}

// messageReader reads numbers and byte strings. After the first failure, it returns
// zero values.
type messageReader struct {
	rest   []byte
	failed bool
}

func (r *messageReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	r.skip(n)
	return v
}

func (r *messageReader) varint() int64 {
	v, n := binary.Varint(r.rest)
	r.skip(n)
	return v
}

func (r *messageReader) skip(n int) {
	if n <= 0 || n > len(r.rest) {
		r.failed, r.rest = true, nil
		return
	}
	r.rest = r.rest[n:]
}

func (r *messageReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.failed, n = true, 0
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

const subjectPrefix = "runs."

// runOf returns the run with a subject, in which an id that isn't a valid token is
// encoded.
func runOf(subject string) string {
	id := strings.TrimPrefix(subject, subjectPrefix)
	if encoded, ok := strings.CutPrefix(id, "="); ok {
		raw, _ := base64.RawURLEncoding.DecodeString(encoded)
		return string(raw)
	}
	return id
}
