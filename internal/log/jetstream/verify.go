package jetstream

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/minio/highwayhash"
)

// verify reads all messages' checksums before the engine does. The engine cuts
// a block off at the first message that it can't read, and goes on as if the
// rest had never been; we would rather say so and leave it alone. Only what a
// crash leaves is the engine's to mend: an end of the last block that is no
// message, with no message after it.
//
// It knows the engine's file format, version 1; a test holds it to the version
// of the engine in go.mod.
func verify(dir string) error {
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "$G", "streams", streamName, "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		return err
	}
	last := slices.MaxFunc(blocks, func(a, b string) int { return int(number(a)) - int(number(b)) })
	todo, failed := make(chan string, len(blocks)), make(chan error, len(blocks))
	for _, b := range blocks {
		todo <- b
	}
	close(todo)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			var buf []byte
			for b := range todo {
				var err error
				if buf, err = readInto(buf, b); err == nil {
					err = verifyBlock(b, buf, b == last)
				}
				failed <- err
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func number(path string) (n uint32) {
	_, _ = fmt.Sscanf(filepath.Base(path), "%d.blk", &n) // 0 if it is none of the engine's
	return n
}

func readInto(buf []byte, path string) ([]byte, error) {
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

func verifyBlock(path string, buf []byte, last bool) error {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", streamName, number(path)))
	sum, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		return err
	}
	for at := 0; at < len(buf); {
		n := message(buf[at:], sum)
		if n > 0 {
			at += n
			continue
		}
		if !last || follows(buf[at+1:], sum) {
			return fmt.Errorf("%w: %s can't be read at byte %d of %d", ErrCorrupt, path, at, len(buf))
		}
		return nil
	}
	return nil
}

// follows tells whether there is a message anywhere in buf.
func follows(buf []byte, sum hash.Hash64) bool {
	for at := range buf {
		if message(buf[at:], sum) > 0 {
			return true
		}
	}
	return false
}

const (
	recordHead = 22 // length, sequence, time, length of the subject
	recordSum  = 8
	withHeader = 1 << 31
	longest    = 32 << 20
)

// message is the length of the message at the beginning of buf, or 0 if there
// is none.
func message(buf []byte, sum hash.Hash64) int {
	if len(buf) < recordHead+recordSum {
		return 0
	}
	size := binary.LittleEndian.Uint32(buf)
	n, subject := int(size&^withHeader), int(binary.LittleEndian.Uint16(buf[20:]))
	body := recordHead + subject
	if size&withHeader != 0 {
		body += 4
	}
	if n > longest || n > len(buf) || body+recordSum > n {
		return 0
	}
	sum.Reset()
	_, _ = sum.Write(buf[4:20])
	_, _ = sum.Write(buf[recordHead : recordHead+subject])
	_, _ = sum.Write(buf[body : n-recordSum])
	var have [recordSum]byte
	if string(sum.Sum(have[:0])) != string(buf[n-recordSum:n]) {
		return 0
	}
	return n
}
