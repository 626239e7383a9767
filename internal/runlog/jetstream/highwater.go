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

// highWater is the log's high-water mark: what the blocks must at least contain.
// It is stored in a file of its own, and written only once everything that it
// counts is on the disk.
type highWater struct {
	// Last is the sequence of the last message, and Messages the number of
	// messages up to it that aren't deleted.
	Last     uint64 `json:"last"`
	Messages uint64 `json:"messages"`
	// deleted lists the runs whose deletion has begun since.
	deleted []deletion
	// blocks holds the sizes of all blocks by number if the log was closed
	// cleanly; otherwise it is nil.
	blocks map[uint32]int64
}

// A deletion records that a run is being deleted, or was.
type deletion struct {
	Run      string `json:"run"`
	Messages uint64 `json:"messages"` // of the run, up to the mark
}

const highWaterFile = "high-water-mark"

// highWaterLine is one line of the file: the mark, then one for each deletion, then
// one for the blocks. Each follows its checksum. A crash may leave the last line
// incomplete; the deletion that it records has not begun then.
type highWaterLine struct {
	Mark    *highWater       `json:"mark,omitempty"`
	Deleted *deletion        `json:"deleted,omitempty"`
	Blocks  map[uint32]int64 `json:"blocks,omitempty"`
}

func (l highWaterLine) encode() []byte {
	raw, err := json.Marshal(l)
	if err != nil {
		panic("jetstream: encoding a high-water mark: " + err.Error()) // our own type
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(raw), raw)
}

// readHighWater reads the mark of a folder. The size is that of the file without
// an incomplete last line or the line with the blocks.
func readHighWater(dir string) (m highWater, size int64, err error) {
	path := filepath.Join(dir, highWaterFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return highWater{}, 0, err
	}
	for at := 0; at < len(raw); {
		line, rest, whole := bytes.Cut(raw[at:], []byte("\n"))
		entry, ok := decodeHighWaterLine(line)
		switch {
		case ok && at == 0 && entry.Mark != nil:
			m = *entry.Mark
		case ok && at > 0 && entry.Deleted != nil:
			m.deleted = append(m.deleted, *entry.Deleted)
		case ok && at > 0 && entry.Blocks != nil && len(rest) == 0:
			m.blocks = entry.Blocks
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

func decodeHighWaterLine(line []byte) (l highWaterLine, ok bool) {
	sum, raw, _ := bytes.Cut(line, []byte(" "))
	if fmt.Sprintf("%08x", crc32.ChecksumIEEE(raw)) != string(sum) {
		return highWaterLine{}, false
	}
	return l, json.Unmarshal(raw, &l) == nil
}

// write replaces the file by one with this mark and no deletions. It returns the
// size of the file.
func (m highWater) write(dir string) (int64, error) {
	raw := highWaterLine{Mark: &m}.encode()
	if m.blocks != nil {
		raw = append(raw, highWaterLine{Blocks: m.blocks}.encode()...)
	}
	return int64(len(raw)), atomicfile.Write(filepath.Join(dir, highWaterFile), raw)
}

// appendDeletion adds a deletion to the file, which has the given size, and
// returns the new size. If it fails, it leaves the file unchanged.
func appendDeletion(dir string, size int64, d deletion) (int64, error) {
	f, err := os.OpenFile(filepath.Join(dir, highWaterFile), os.O_RDWR, 0)
	if err != nil {
		return size, err
	}
	defer f.Close()
	line := highWaterLine{Deleted: &d}.encode()
	if err = f.Truncate(size); err == nil { // removes what a failed write left
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

// truncateHighWater truncates the file to a size.
func truncateHighWater(dir string, size int64) error {
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
