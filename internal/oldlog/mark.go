package oldlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// A mark is the log's high-water mark: what the blocks contained at some time, all of
// which was on the disk when the mark was written.
type mark struct {
	// Last is the sequence of the last message, and Messages the number of messages
	// up to it that weren't deleted.
	Last     uint64 `json:"last"`
	Messages uint64 `json:"messages"`
	// deleted has the runs whose deletion has begun since, and how many messages they
	// had up to the mark.
	deleted map[string]uint64
	// blocks holds the sizes of all blocks by number if the log was closed cleanly;
	// otherwise it is nil.
	blocks map[uint32]int64
}

const markName = "high-water-mark"

// markLine is one line of the file: the mark, then one for each deletion, then one for
// the blocks. Each follows its checksum. A crash may leave the last line incomplete;
// the deletion that it records has not begun then.
type markLine struct {
	Mark    *mark `json:"mark"`
	Deleted *struct {
		Run      string `json:"run"`
		Messages uint64 `json:"messages"`
	} `json:"deleted"`
	Blocks map[uint32]int64 `json:"blocks"`
}

func readMark(dir string) (m mark, err error) {
	path := filepath.Join(dir, markName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w: %s has no file %q", ErrCorrupt, dir, markName)
	} else if err != nil {
		return m, err
	}
	m.deleted = make(map[string]uint64)
	for at := 0; at < len(raw) || at == 0; {
		text, rest, whole := bytes.Cut(raw[at:], []byte("\n"))
		line, ok := decodeMarkLine(text)
		switch {
		case ok && at == 0 && line.Mark != nil:
			m.Last, m.Messages = line.Mark.Last, line.Mark.Messages
		case ok && at > 0 && line.Deleted != nil:
			m.deleted[line.Deleted.Run] += line.Deleted.Messages
		case ok && at > 0 && line.Blocks != nil && len(rest) == 0:
			m.blocks = line.Blocks
		case at > 0 && !whole: // torn
		default:
			return mark{}, fmt.Errorf("%w: %s can't be read at byte %d", ErrCorrupt, path, at)
		}
		at += len(text) + 1
	}
	return m, nil
}

func decodeMarkLine(text []byte) (l markLine, ok bool) {
	sum, raw, _ := bytes.Cut(text, []byte(" "))
	if fmt.Sprintf("%08x", crc32.ChecksumIEEE(raw)) != string(sum) {
		return markLine{}, false
	}
	return l, json.Unmarshal(raw, &l) == nil
}

// expectedMessages returns how many messages there must be up to the mark, apart from
// those of runs that are being deleted.
func (m *mark) expectedMessages() uint64 {
	n := m.Messages
	for _, deleted := range m.deleted {
		n -= min(n, deleted)
	}
	return n
}
