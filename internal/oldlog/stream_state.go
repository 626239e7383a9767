package oldlog

import (
	"encoding/binary"
	"os"
	"path/filepath"
)

// The server writes what it knows of the stream to the file index.db: when it stops,
// and every two minutes. Only one thing in it is not in the blocks: when the first
// messages of a block are deleted, the server remembers the sequence of the first that
// is left, and may drop the tombstones of the others.

// readFirstSeqs returns the sequence of the first message of each block that isn't
// deleted. It returns none if the file is missing or can't be read, since the mark says
// how many messages there are.
func readFirstSeqs(dir string) map[uint32]uint64 {
	const magic, newestVersion, headSize = 11, 4, 2
	raw, err := os.ReadFile(filepath.Join(messagesDir(dir), "index.db"))
	if err != nil || len(raw) < headSize+checksumSize {
		return nil
	}
	raw, want := raw[:len(raw)-checksumSize], raw[len(raw)-checksumSize:]
	sum := newChecksum(streamName)
	_, _ = sum.Write(raw)
	version := raw[1]
	if string(sum.Sum(nil)) != string(want) || raw[0] != magic || version < 1 || version > newestVersion {
		return nil
	}
	r := messageReader{rest: raw[headSize:]}
	for range 6 { // messages, bytes, first and last sequence and their times
		r.uvarint()
	}
	for n := r.uvarint(); n > 0 && !r.failed; n-- {
		r.bytes() // subject
		total := r.uvarint()
		r.uvarint() // first block
		if total > 1 || version >= 4 {
			r.uvarint() // last block
		}
	}
	return readBlockStates(&r, version)
}

func readBlockStates(r *messageReader, version byte) map[uint32]uint64 {
	firstSeqs := make(map[uint32]uint64)
	for n := r.uvarint(); n > 0 && !r.failed; n-- {
		number := r.uvarint()
		r.uvarint() // bytes
		firstSeqs[uint32(number)] = r.uvarint()
		for range 3 { // time of the first, sequence and time of the last message
			r.uvarint()
		}
		deleted := r.uvarint()
		for range min(version, 3) - 1 { // messages with a lifetime, scheduled messages
			r.uvarint()
		}
		if deleted > 0 {
			r.skipSequenceSet()
		}
	}
	if r.failed {
		return nil
	}
	return firstSeqs
}

// skipSequenceSet skips the deleted sequences between messages of a block, which have
// tombstones.
func (r *messageReader) skipSequenceSet() {
	const headSize = 10 // magic, version, number of nodes, number of sequences
	nodeSize := map[byte]int{1: 8 + 64*8 + 2, 2: 8 + 32*8 + 2}
	if len(r.rest) < headSize || nodeSize[r.rest[1]] == 0 {
		r.skip(0)
		return
	}
	nodes := int(binary.LittleEndian.Uint32(r.rest[2:]))
	r.skip(headSize + nodes*nodeSize[r.rest[1]])
}
