package oldlog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/highwayhash"
)

const streamName = "runs"

// messagesDir returns the folder of a log's block files.
func messagesDir(dir string) string {
	return filepath.Join(dir, "jetstream", "$G", "streams", streamName, "msgs")
}

// A block is one of the files in which the NATS server keeps messages, in version 1 of
// its format.
type block struct {
	path   string
	number uint32
	size   int64
	bad    []span // bytes that aren't valid records
}

type span struct{ from, to int64 }

// listBlocks returns the block files of a log in order.
func listBlocks(dir string) (all []*block, err error) {
	files, err := os.ReadDir(messagesDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		n, parseErr := strconv.ParseUint(strings.TrimSuffix(f.Name(), ".blk"), 10, 32)
		if parseErr == nil && f.Name() == fmt.Sprint(n, ".blk") {
			all = append(all, &block{path: filepath.Join(messagesDir(dir), f.Name()), number: uint32(n)})
		}
	}
	slices.SortFunc(all, func(a, b *block) int { return cmp.Compare(a.number, b.number) })
	return all, err
}

// newChecksum returns the checksum of the records in the block.
func (b *block) newChecksum() hash.Hash64 { return newChecksum(fmt.Sprint(streamName, "-", b.number)) }

func newChecksum(name string) hash.Hash64 {
	key := sha256.Sum256([]byte(name))
	sum, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		panic("oldlog: " + err.Error()) // the key has the right length
	}
	return sum
}

// scan calls add for each record in buf, the contents of the block, and finds bad bytes:
// after bytes that aren't a valid record, it continues with the next one that is.
func (b *block) scan(buf []byte, add func(at int, r record) error) error {
	b.size, b.bad = int64(len(buf)), nil
	sum := b.newChecksum()
	for at := 0; at < len(buf); {
		if r, ok := readRecord(buf[at:], sum); ok {
			if err := add(at, r); err != nil {
				return err
			}
			at += r.size
			continue
		}
		next := at + 1
		for next < len(buf) && !startsRecord(buf[next:], sum) {
			next++
		}
		b.bad = append(b.bad, span{int64(at), int64(next)})
		at = next
	}
	return nil
}

// Flags that the server sets in the sequence of a record.
const (
	tombstone = 1 << 62 // the record marks the message with this sequence as deleted
	erased    = 1 << 63 // the message was overwritten or skipped
)

// A record is one unit of a block: a message or a tombstone. It shares the block's
// memory.
type record struct {
	size          int
	seq           uint64
	subject, body []byte
}

const (
	recordHeadSize = 22 // length, sequence, time, length of the subject
	checksumSize   = 8
	hasHeaderBit   = 1 << 31
	maxRecordSize  = 32 << 20
)

// readRecord reads the record at the beginning of buf. It reports whether there is a
// complete one with a correct checksum.
func readRecord(buf []byte, sum hash.Hash64) (record, bool) {
	if len(buf) < recordHeadSize+checksumSize {
		return record{}, false
	}
	size := binary.LittleEndian.Uint32(buf)
	n, subject := int(size&^hasHeaderBit), int(binary.LittleEndian.Uint16(buf[20:]))
	header := recordHeadSize + subject
	body := header
	if size&hasHeaderBit != 0 {
		body += 4
	}
	if n > maxRecordSize || n > len(buf) || body+checksumSize > n {
		return record{}, false
	}
	sum.Reset()
	_, _ = sum.Write(buf[4:20])
	_, _ = sum.Write(buf[recordHeadSize:header])
	_, _ = sum.Write(buf[body : n-checksumSize])
	var have [checksumSize]byte
	if string(sum.Sum(have[:0])) != string(buf[n-checksumSize:n]) {
		return record{}, false
	}
	r := record{size: n, seq: binary.LittleEndian.Uint64(buf[4:]), subject: buf[recordHeadSize:header], body: buf[body : n-checksumSize]}
	if size&hasHeaderBit == 0 {
		return r, true
	}
	// The checksum doesn't cover the length of the NATS header.
	length := bytes.Index(r.body, endOfHeader) + len(endOfHeader)
	if length < len(endOfHeader) || length != int(binary.LittleEndian.Uint32(buf[header:])) {
		return record{}, false
	}
	r.body = r.body[length:]
	return r, true
}

var endOfHeader = []byte("\r\n\r\n")

// startsRecord reports whether buf begins with a message of a run or a tombstone. It
// checks the length and the subject before the checksum, which is slow.
func startsRecord(buf []byte, sum hash.Hash64) bool {
	const empty = recordHeadSize + checksumSize
	if len(buf) < empty || !bytes.HasPrefix(buf[recordHeadSize:], []byte(subjectPrefix)) && binary.LittleEndian.Uint32(buf) != empty {
		return false
	}
	_, ok := readRecord(buf, sum)
	return ok
}

// readFileInto reads a file into buf, which it grows if need be.
func readFileInto(buf []byte, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return buf, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return buf, err
	}
	buf = slices.Grow(buf[:0], int(info.Size()))[:info.Size()]
	n, err := f.ReadAt(buf, 0)
	return buf[:n], err
}
