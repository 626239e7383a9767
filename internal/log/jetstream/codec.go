package jetstream

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/log"
)

// A message is one append:
//
//	version  byte, 1
//	flags    byte; 1: its last entry ends the run
//	first    uvarint, the ordinal of its first entry
//	count    uvarint
//	run      with its length as uvarint before it
//	entries  seconds varint, nanoseconds uvarint, then kind, blob and data, each
//	         with its length as uvarint before it
//
// It is not JSON since a million runs are read when Beam starts, and it names
// its run so that they can be read without the engine's headers.
const messageVersion = 1

const flagFinished = 1

// head is what a message says before its entries.
type head struct {
	run         []byte
	first, last uint64
	finished    bool
	rest        []byte
	count       uint64
}

// encode makes a message.
func encode(run string, after uint64, entries []log.Entry) []byte {
	now := time.Now()
	// As it is kept for a while, it has little room to spare: what numbers and
	// lengths take beside a run's name, or what an entry carries, mostly.
	const most = 16
	size := most + len(run)
	for _, e := range entries {
		size += most + len(e.Kind) + len(e.Blob) + len(e.Data)
	}
	buf := make([]byte, 0, size)
	var flags byte
	if entries[len(entries)-1].Kind == log.KindFinished {
		flags = flagFinished
	}
	buf = append(buf, messageVersion, flags)
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
	}
	return buf
}

func appendBytes[T string | ~[]byte](buf []byte, s T) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

var errMessage = errors.New("a message can't be read")

func decodeHead(msg []byte) (head, error) {
	if len(msg) < 2 {
		return head{}, fmt.Errorf("%w: %w: it has %d bytes", ErrCorrupt, errMessage, len(msg))
	}
	if msg[0] != messageVersion {
		return head{}, fmt.Errorf("%w: %w: its version is %d", ErrNewer, errMessage, msg[0])
	}
	r := reader{rest: msg[2:]}
	h := head{first: r.uvarint(), count: r.uvarint(), run: r.bytes(), finished: msg[1]&flagFinished != 0}
	h.last, h.rest = h.first+h.count-1, r.rest
	if r.failed || h.first == 0 || h.count == 0 || h.count > uint64(len(msg)) {
		return head{}, fmt.Errorf("%w: %w: its head", ErrCorrupt, errMessage)
	}
	return h, nil
}

// decode appends a message's entries after an ordinal to all. They share the
// message's memory.
func (h head) decode(all []log.Entry, after uint64) ([]log.Entry, error) {
	r := reader{rest: h.rest}
	for seq := h.first; seq <= h.last; seq++ {
		sec, nsec := r.varint(), r.uvarint()
		kind, blob, data := r.bytes(), r.bytes(), r.bytes()
		if r.failed {
			return nil, fmt.Errorf("%w: %w: entry %d", ErrCorrupt, errMessage, seq)
		}
		if seq <= after {
			continue
		}
		e := log.Entry{Seq: seq, Time: time.Unix(sec, int64(nsec)), Kind: intern(kind), Blob: string(blob)}
		if len(data) > 0 {
			e.Data = data
		}
		all = append(all, e)
	}
	return all, nil
}

// intern spares the kinds that are everywhere their copies.
func intern(kind []byte) log.Kind {
	if k, ok := kinds[string(kind)]; ok {
		return k
	}
	return log.Kind(kind)
}

var kinds = func() map[string]log.Kind {
	all := make(map[string]log.Kind)
	for _, k := range []log.Kind{
		log.KindStarted, log.KindClaimed, log.KindAsked, log.KindAnswered, log.KindStepped, log.KindWithdrawn,
		log.KindFinished, "status", "progress", "log", "chunk", "toast", "artifact",
	} {
		all[string(k)] = k
	}
	return all
}()

// reader reads numbers and bytes until one is missing.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	return skip(r, v, n)
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	return skip(r, v, n)
}

func skip[T any](r *reader, v T, n int) T {
	if n <= 0 {
		r.failed, r.rest = true, nil
		return v
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.failed, n = true, 0
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

const prefix = "runs."

// subject is where a run's messages are. An id that would not do as a token of
// a subject is encoded.
func subject(run string) string {
	if plain(run) {
		return prefix + run
	}
	return prefix + "=" + base64.RawURLEncoding.EncodeToString([]byte(run))
}

func plain(run string) bool {
	for i := range len(run) {
		c := run[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return run != "" && len(run) <= 128
}
