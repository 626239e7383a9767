package store

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
)

// The data of an append is a version byte, and then for each entry: flags as a byte, the
// seconds since 1970 as a varint, the nanoseconds as a uvarint, the kind, the data or, with
// flagBlob, the digest of it, and if the flags say so the goroutine and the step. Strings have
// their length as a uvarint before them.
const dataVersion = 1

const (
	flagBlob = 1 << iota
	flagGoroutine
	flagStep
)

func encodeEntries(entries []runlog.Entry) []byte {
	const overhead = 16
	size := 1
	for _, e := range entries {
		size += overhead + len(e.Kind) + len(e.Blob) + len(e.Data) + len(e.Goroutine) + len(e.Step)
	}
	buf := append(make([]byte, 0, size), dataVersion)
	for _, e := range entries {
		at := len(buf)
		buf = append(buf, 0)
		buf = binary.AppendVarint(buf, e.Time.Unix())
		buf = binary.AppendUvarint(buf, uint64(e.Time.Nanosecond()))
		buf = appendString(buf, e.Kind)
		if e.Blob != "" {
			buf[at] |= flagBlob
			buf = appendString(buf, e.Blob)
		} else {
			buf = appendString(buf, e.Data)
		}
		if e.Goroutine != "" {
			buf[at] |= flagGoroutine
			buf = appendString(buf, e.Goroutine)
		}
		if e.Step != "" {
			buf[at] |= flagStep
			buf = appendString(buf, e.Step)
		}
	}
	return buf
}

func appendString[T ~string | ~[]byte](buf []byte, s T) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

// decodeEntries appends the n entries of an append, the first of which has the ordinal first,
// to all, except those up to the ordinal after. They share the memory of data.
func decodeEntries(all []runlog.Entry, data []byte, first uint64, n int, after uint64) ([]runlog.Entry, error) {
	if len(data) == 0 || data[0] != dataVersion {
		return nil, fmt.Errorf("%w: entry %d is of no known version", runlog.ErrCorrupt, first)
	}
	r := dataReader{rest: data[1:]}
	for seq := first; seq < first+uint64(n); seq++ {
		flags := r.byte()
		e := runlog.Entry{Seq: seq, Time: time.Unix(r.varint(), int64(r.uvarint())), Kind: internKind(r.string())}
		if text := r.string(); flags&flagBlob != 0 {
			e.Blob = string(text)
		} else if len(text) > 0 {
			e.Data = text
		}
		if flags&flagGoroutine != 0 {
			e.Goroutine = string(r.string())
		}
		if flags&flagStep != 0 {
			e.Step = string(r.string())
		}
		if r.failed {
			return nil, fmt.Errorf("%w: entry %d can't be decoded", runlog.ErrCorrupt, seq)
		}
		if seq > after {
			all = append(all, e)
		}
	}
	if len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: bytes follow entry %d", runlog.ErrCorrupt, first+uint64(n)-1)
	}
	return all, nil
}

// dataReader reads numbers and strings. After the first failure, it returns zero values.
type dataReader struct {
	rest   []byte
	failed bool
}

func (r *dataReader) byte() byte {
	if len(r.rest) == 0 {
		r.failed = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *dataReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	return advance(r, v, n)
}

func (r *dataReader) varint() int64 {
	v, n := binary.Varint(r.rest)
	return advance(r, v, n)
}

func advance[T any](r *dataReader, v T, n int) T {
	if n <= 0 {
		r.failed, r.rest = true, nil
		return v
	}
	r.rest = r.rest[n:]
	return v
}

func (r *dataReader) string() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.failed, n = true, 0
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
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
	for _, k := range driver.Kinds() {
		all[k] = runlog.Kind(k)
	}
	return all
}()

// escaped begins texts that toText has encoded.
const escaped = "\x01"

// toText returns a string as a database stores it, whose texts hold neither U+0000 nor invalid
// UTF-8, which becomes U+FFFD as it does in JSON. fromText is its inverse.
func toText(s string) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	if strings.IndexByte(s, 0) < 0 && !strings.HasPrefix(s, escaped) {
		return s
	}
	return escaped + hex.EncodeToString([]byte(s))
}

func fromText(s string) string {
	rest, ok := strings.CutPrefix(s, escaped)
	if !ok {
		return s
	}
	raw, err := hex.DecodeString(rest)
	if err != nil {
		return s
	}
	return string(raw)
}

// toNanos returns a time as a database stores it; those beyond 2262 become the last one.
func toNanos(t time.Time) int64 {
	switch {
	case t.Year() > 2261:
		return math.MaxInt64
	case t.Year() < 1679:
		return math.MinInt64
	}
	return t.UnixNano()
}

// nullNanos is toNanos with nil for the zero time.
func nullNanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return toNanos(t)
}
