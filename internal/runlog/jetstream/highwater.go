package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// A highWater is what the blocks must hold at least. It is in a file of its own
// beside them, and is written only when what it counts is on the disk.
type highWater struct {
	// Last is the sequence of the last message, and Messages is how many there
	// are up to it that aren't deleted.
	Last     uint64 `json:"last"`
	Messages uint64 `json:"messages"`
	// deleted are runs whose deletion has begun since.
	deleted []deletion
	// blocks are the sizes of all blocks, by number, if the log was closed
	// and not opened since; nil otherwise.
	blocks map[uint32]int64
}

// A deletion is a run that was deleted, or is to be.
type deletion struct {
	Run      string `json:"run"`
	Messages uint64 `json:"messages"` // it had, up to the mark
}

const highWaterFile = "high-water-mark"

// A markLine is one line of the file: the mark, then one for each deletion, then
// one for the blocks. Before each is its checksum. The end of the file may be
// torn: what it was to say has not begun then.
type markLine struct {
	Mark    *highWater       `json:"mark,omitempty"`
	Deleted *deletion        `json:"deleted,omitempty"`
	Blocks  map[uint32]int64 `json:"blocks,omitempty"`
}

func (m markLine) encode() []byte {
	raw, err := json.Marshal(m)
	if err != nil {
		panic("log: encoding a high-water mark: " + err.Error()) // our own type
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(raw), raw)
}

// readHighWater reads the mark of a folder, and how long its file is without
// what an unclean end or a clean one left there: a torn line, or the blocks.
func readHighWater(dir string) (m highWater, size int64, err error) {
	path := filepath.Join(dir, highWaterFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return highWater{}, 0, err
	}
	for at := 0; at < len(raw); {
		line, rest, whole := bytes.Cut(raw[at:], []byte("\n"))
		l, ok := decodeMarkLine(line)
		switch {
		case ok && at == 0 && l.Mark != nil:
			m = *l.Mark
		case ok && at > 0 && l.Deleted != nil:
			m.deleted = append(m.deleted, *l.Deleted)
		case ok && at > 0 && l.Blocks != nil && len(rest) == 0:
			m.blocks = l.Blocks
			return m, size, nil
		case at > 0 && !whole:
			return m, size, nil
		default:
			return highWater{}, 0, fmt.Errorf("%w: %s can't be read at byte %d", ErrCorrupt, path, at)
		}
		at += len(line) + 1
		size = int64(at)
	}
	if size == 0 {
		return highWater{}, 0, fmt.Errorf("%w: %s is empty", ErrCorrupt, path)
	}
	return m, size, nil
}

func decodeMarkLine(line []byte) (l markLine, ok bool) {
	sum, raw, _ := bytes.Cut(line, []byte(" "))
	if fmt.Sprintf("%08x", crc32.ChecksumIEEE(raw)) != string(sum) {
		return markLine{}, false
	}
	return l, json.Unmarshal(raw, &l) == nil
}

// write puts the mark in the place of any other, without what was deleted. It
// returns the size of the file.
func (m highWater) write(dir string) (int64, error) {
	raw := markLine{Mark: &m}.encode()
	if m.blocks != nil {
		raw = append(raw, markLine{Blocks: m.blocks}.encode()...)
	}
	return int64(len(raw)), atomicfile.Write(filepath.Join(dir, highWaterFile), raw)
}

// noteDeletion adds a deletion to the file, whose size is given, before the
// deletion begins. It returns the new size; with an error, the file is as before.
func noteDeletion(dir string, size int64, d deletion) (int64, error) {
	f, err := os.OpenFile(filepath.Join(dir, highWaterFile), os.O_RDWR, 0)
	if err != nil {
		return size, err
	}
	defer f.Close()
	line := markLine{Deleted: &d}.encode()
	if err = f.Truncate(size); err == nil { // a torn line, if the last one could not be written
		_, err = f.WriteAt(line, size)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return size, errors.Join(err, f.Truncate(size))
	}
	return size + int64(len(line)), nil
}

// trimHighWater cuts the file to a size.
func trimHighWater(dir string, size int64) error {
	f, err := os.OpenFile(filepath.Join(dir, highWaterFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}
