package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/photon-beam/beam/internal/runlog"
)

// A digest is the first half of a SHA-256.
type digest [digestSize]byte

const digestSize = 16

// chain returns the digest of a run up to an append, given that of the run before it. Each
// part has a fixed length or its length before it.
func chain(before digest, run string, first uint64, n int, dataSum [sha256.Size]byte) digest {
	buf := make([]byte, 0, 128)
	buf = append(buf, before[:]...)
	buf = appendString(buf, run)
	buf = binary.BigEndian.AppendUint64(buf, first)
	buf = binary.BigEndian.AppendUint64(buf, uint64(n))
	sum := sha256.Sum256(append(buf, dataSum[:]...))
	return digest(sum[:digestSize])
}

// of returns the digest of a run and its head, to be combined with that of all others.
func (d digest) of(run string) digest {
	sum := sha256.Sum256(append(append(make([]byte, 0, 64), d[:]...), run...))
	return digest(sum[:digestSize])
}

// digestRow returns the digest of a row of a table: texts and int64s.
func digestRow(values ...any) digest {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return digest(sum[:digestSize])
}

// xor adds an element to the digest of a set, or removes it.
func (d *digest) xor(e digest) {
	for i := range d {
		d[i] ^= e[i]
	}
}

// Scan implements [sql.Scanner].
func (d *digest) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != digestSize {
		return fmt.Errorf("%w: a digest has a wrong length", runlog.ErrCorrupt)
	}
	copy(d[:], b)
	return nil
}

// A nullDigest is zero if it is null in the database.
type nullDigest struct{ digest }

// Scan implements [sql.Scanner].
func (d *nullDigest) Scan(v any) error {
	if v == nil {
		d.digest = digest{}
		return nil
	}
	return d.digest.Scan(v)
}

// A chainReader reads rows of a run's entries, one after the other, and checks that each is what
// was recorded.
type chainReader struct {
	run    string
	next   uint64 // the ordinal with which the next row begins
	digest digest // of the run up to there
	bytes  int    // that were read
}

// add appends the entries of the next row, which has the columns first, n, digest and data, to
// all, except those up to the ordinal after.
func (c *chainReader) add(all []runlog.Entry, row scanner, after uint64) ([]runlog.Entry, error) {
	var first uint64
	var n int
	var d digest
	var data []byte
	if err := row.Scan(&first, &n, &d, &data); err != nil {
		return nil, err
	}
	switch {
	case first != c.next:
		return nil, c.missing()
	case n < 1 || d != chain(c.digest, c.run, first, n, sha256.Sum256(data)):
		return nil, fmt.Errorf("%w: entry %d of run %s is not what was recorded", runlog.ErrCorrupt, first, c.run)
	}
	all, err := decodeEntries(all, data, first, n, after)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", c.run, err)
	}
	c.next, c.digest, c.bytes = first+uint64(n), d, c.bytes+len(data)
	return all, nil
}

func (c *chainReader) missing() error {
	return fmt.Errorf("%w: entry %d of run %s is missing", runlog.ErrCorrupt, c.next, c.run)
}
