package jetstream

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A message is one append:
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
// The encoding isn't JSON, because Beam may read a million runs when it starts.
// The message names its run so that reading it needs no NATS headers.
const (
	messageVersion     = 1
	messageWithOrigins = 2
)

const flagFinished = 1

// messageHead is the part of a message before its entries.
type messageHead struct {
	run               []byte
	firstSeq, lastSeq uint64
	finished          bool
	hasOrigins        bool // its version is 2
	body              []byte
	count             uint64
}

// encodeMessage encodes entries as the message that follows the entry with
// ordinal after.
func encodeMessage(run string, after uint64, entries []runlog.Entry) []byte {
	now := time.Now()
	// The caches retain the buffer, so its capacity should be close to its
	// length. Numbers and lengths usually need less than overhead bytes.
	const overhead = 16
	size := overhead + len(run)
	for _, e := range entries {
		size += overhead + len(e.Kind) + len(e.Blob) + len(e.Data) + len(e.Goroutine) + len(e.Step)
	}
	hasOrigins := slices.ContainsFunc(entries, func(e runlog.Entry) bool { return e.Goroutine != "" || e.Step != "" })
	version := byte(messageVersion)
	if hasOrigins {
		version = messageWithOrigins
	}
	buf := make([]byte, 0, size)
	var flags byte
	if entries[len(entries)-1].Kind == runlog.KindFinished {
		flags = flagFinished
	}
	buf = append(buf, version, flags)
	buf = binary.AppendUvarint(buf, after+1)
	buf = binary.AppendUvarint(buf, uint64(len(entries)))
	buf = appendBytes(buf, run)
	for _, e := range entries {
		at := e.Time
		if at.IsZero() {
			at = now
		}
		buf = binary.AppendVarint(buf, at.Unix())
		buf = binary.AppendUvarint(buf, uint64(at.Nanosecond()))
		buf = appendBytes(buf, string(e.Kind))
		buf = appendBytes(buf, e.Blob)
		buf = appendBytes(buf, e.Data)
		if hasOrigins {
			buf = appendBytes(appendBytes(buf, e.Goroutine), e.Step)
		}
	}
	return buf
}

func appendBytes[T string | ~[]byte](buf []byte, s T) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

var errBadMessage = errors.New("invalid message")

func decodeHead(msg []byte) (messageHead, error) {
	if len(msg) < 2 {
		return messageHead{}, fmt.Errorf("%w: %w: only %d bytes", ErrCorrupt, errBadMessage, len(msg))
	}
	if msg[0] != messageVersion && msg[0] != messageWithOrigins {
		return messageHead{}, fmt.Errorf("%w: %w: version %d", ErrNewerFormat, errBadMessage, msg[0])
	}
	r := messageReader{rest: msg[2:]}
	h := messageHead{firstSeq: r.uvarint(), count: r.uvarint(), run: r.bytes(), finished: msg[1]&flagFinished != 0, hasOrigins: msg[0] == messageWithOrigins}
	h.lastSeq, h.body = h.firstSeq+h.count-1, r.rest
	if r.failed || h.firstSeq == 0 || h.count == 0 || h.count > uint64(len(msg)) {
		return messageHead{}, fmt.Errorf("%w: %w: invalid head", ErrCorrupt, errBadMessage)
	}
	return h, nil
}

// decodeEntries appends the message's entries after an ordinal to all. They share
// the message's memory.
func (h messageHead) decodeEntries(all []runlog.Entry, after uint64) ([]runlog.Entry, error) {
	r := messageReader{rest: h.body}
	for seq := h.firstSeq; seq <= h.lastSeq; seq++ {
		sec, nsec := r.varint(), r.uvarint()
		kind, blob, data := r.bytes(), r.bytes(), r.bytes()
		var goroutine, step []byte
		if h.hasOrigins {
			goroutine, step = r.bytes(), r.bytes()
		}
		if r.failed {
			return nil, fmt.Errorf("%w: %w: entry %d", ErrCorrupt, errBadMessage, seq)
		}
		if seq <= after {
			continue
		}
		e := runlog.Entry{Seq: seq, Time: time.Unix(sec, int64(nsec)), Kind: internKind(kind), Blob: string(blob), Goroutine: string(goroutine), Step: string(step)}
		if len(data) > 0 {
			e.Data = data
		}
		all = append(all, e)
	}
	return all, nil
}

// internKind returns kind as a string, without a copy if it is a common one.
func internKind(kind []byte) runlog.Kind {
	if k, ok := commonKinds[string(kind)]; ok {
		return k
	}
	return runlog.Kind(kind)
}

var commonKinds = func() map[string]runlog.Kind {
	all := make(map[string]runlog.Kind)
	for _, k := range runlog.EntryKinds() {
		all[string(k)] = k
	}
	for _, k := range generators.Kinds() {
		all[k] = runlog.Kind(k)
	}
	return all
}()

// messageReader reads numbers and byte strings. After the first failure, it
// returns zero values.
type messageReader struct {
	rest   []byte
	failed bool
}

func (r *messageReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	return advanceReader(r, v, n)
}

func (r *messageReader) varint() int64 {
	v, n := binary.Varint(r.rest)
	return advanceReader(r, v, n)
}

func advanceReader[T any](r *messageReader, v T, n int) T {
	if n <= 0 {
		r.failed, r.rest = true, nil
		return v
	}
	r.rest = r.rest[n:]
	return v
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

// subjectOf returns the subject of a run. It encodes an id that isn't a valid
// token of a subject.
func subjectOf(run string) string {
	if isPlainToken(run) {
		return subjectPrefix + run
	}
	return subjectPrefix + "=" + base64.RawURLEncoding.EncodeToString([]byte(run))
}

func isPlainToken(run string) bool {
	for i := range len(run) {
		c := run[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return run != "" && len(run) <= 128
}
