package jetstream

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/maphash"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"
)

// A block lists what one of the server's block files contains.
type block struct {
	path     string
	number   uint32
	size     int64
	messages []blockMessage
	deleted  []uint64 // sequences of deleted messages, in this block or earlier ones
	bad      []span   // bytes that aren't valid records
}

// A blockMessage locates a message in its block.
type blockMessage struct {
	seq, previousSeq uint64 // previousSeq: of the previous message of the run; 0 for none
	subject          uint64 // a hash
	start, end       uint32
}

type span struct{ from, to int64 }

func blockNumber(path string) (n uint32) {
	_, _ = fmt.Sscanf(filepath.Base(path), "%d.blk", &n) // 0 if it isn't a block
	return n
}

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

// readBlock indexes the records in buf, the contents of a block. After bytes that
// aren't a valid record, it continues with the next one that is.
func readBlock(path string, buf []byte) (*block, error) {
	b := &block{path: path, number: blockNumber(path), size: int64(len(buf))}
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", streamName, b.number))
	sum, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(buf); {
		r, ok := readRecord(buf[at:], sum)
		if ok {
			b.add(r, at)
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
	return b, nil
}

// Flags that the server sets in the sequence of a record.
const (
	tombstone = 1 << 62 // the record marks the message with this sequence as deleted
	erased    = 1 << 63 // the message was overwritten or skipped
)

func (b *block) add(r record, at int) {
	switch {
	case r.seq&tombstone != 0:
		b.deleted = append(b.deleted, r.seq&^tombstone)
	case r.seq == 0 || r.seq&erased != 0:
	default:
		b.messages = append(b.messages, blockMessage{r.seq, r.expectedLastSeq(), hashSubject(r.subject), uint32(at), uint32(at + r.size)})
	}
}

func hashSubject(subject []byte) uint64 { return maphash.Bytes(shardSeed, subject) }

// A record is one unit of a block: a message or a tombstone. It shares the
// block's memory.
type record struct {
	size                  int
	seq                   uint64
	subject, header, body []byte
}

const (
	blockHeaderSize   = 22 // length, sequence, time, length of the subject
	blockChecksumSize = 8
	hasHeaderBit      = 1 << 31
	maxMessageSize    = 32 << 20
)

// readRecord reads the record at the beginning of buf. It reports whether there
// is a complete one with a correct checksum.
func readRecord(buf []byte, sum hash.Hash64) (record, bool) {
	if len(buf) < blockHeaderSize+blockChecksumSize {
		return record{}, false
	}
	size := binary.LittleEndian.Uint32(buf)
	n, subject := int(size&^hasHeaderBit), int(binary.LittleEndian.Uint16(buf[20:]))
	header := blockHeaderSize + subject
	body := header
	if size&hasHeaderBit != 0 {
		body += 4
	}
	if n > maxMessageSize || n > len(buf) || body+blockChecksumSize > n {
		return record{}, false
	}
	sum.Reset()
	_, _ = sum.Write(buf[4:20])
	_, _ = sum.Write(buf[blockHeaderSize:header])
	_, _ = sum.Write(buf[body : n-blockChecksumSize])
	var have [blockChecksumSize]byte
	if string(sum.Sum(have[:0])) != string(buf[n-blockChecksumSize:n]) {
		return record{}, false
	}
	r := record{size: n, seq: binary.LittleEndian.Uint64(buf[4:]), subject: buf[blockHeaderSize:header], body: buf[body : n-blockChecksumSize]}
	if size&hasHeaderBit != 0 {
		length := min(int(binary.LittleEndian.Uint32(buf[header:])), len(r.body))
		r.header, r.body = r.body[:length], r.body[length:]
	}
	return r, true
}

// startsRecord reports whether buf begins with a message of a run or a tombstone.
// It checks the length and the subject before the checksum, which is slow.
func startsRecord(buf []byte, sum hash.Hash64) bool {
	const empty = blockHeaderSize + blockChecksumSize
	if len(buf) < empty || !bytes.HasPrefix(buf[blockHeaderSize:], []byte(subjectPrefix)) && binary.LittleEndian.Uint32(buf) != empty {
		return false
	}
	_, ok := readRecord(buf, sum)
	return ok
}

var expectedLast = []byte(server.JSExpectedLastSubjSeq + ": ")

// expectedLastSeq returns the sequence of the message that this one follows, or 0
// if it is the first of its run.
func (r record) expectedLastSeq() uint64 {
	_, value, _ := bytes.Cut(r.header, expectedLast)
	digits, _, _ := bytes.Cut(value, []byte("\r\n"))
	seq, _ := strconv.ParseUint(string(digits), 10, 64) // 0 if there is no such header
	return seq
}
