package jetstream

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/humanize"
)

// verify compares the blocks with the high-water mark. The error is
// [ErrCorrupt], and names the first difference.
func (x *blockIndex) verify(m highWater) error {
	if err := x.verifyReadable(m); err != nil {
		return err
	}
	if m.blocks != nil {
		if err := x.verifySizes(m.blocks); err != nil {
			return err
		}
	}
	if err := x.verifyCount(m); err != nil {
		return err
	}
	return x.verifyLinks(m)
}

// verifyReadable returns an error if part of a block can't be read, unless it is
// the end of the last block and a crash may have torn it.
func (x *blockIndex) verifyReadable(m highWater) error {
	for i, b := range x.blocks {
		if len(b.bad) == 0 || i == len(x.blocks)-1 && x.tornBytes() > 0 && m.blocks == nil {
			continue
		}
		return fmt.Errorf("%w: bytes %d to %d of %d in %s can't be read", ErrCorrupt, b.bad[0].from, b.bad[0].to, b.size, b.path)
	}
	return nil
}

// verifySizes compares the sizes of the blocks with those that a clean stop
// recorded.
func (x *blockIndex) verifySizes(want map[uint32]int64) error {
	for n, size := range want {
		switch b := x.findBlock(n); {
		case b == nil:
			return fmt.Errorf("%w: %s is missing", ErrCorrupt, filepath.Join(messagesDir(x.dir), fmt.Sprint(n, ".blk")))
		case b.size != size:
			return fmt.Errorf("%w: %s has %d bytes, want %d", ErrCorrupt, b.path, b.size, size)
		}
	}
	return nil
}

// verifyCount compares the number of messages up to the mark.
func (x *blockIndex) verifyCount(m highWater) error {
	want, deleted := m.expectedMessages()
	var have uint64
	for _, b := range x.blocks {
		for _, msg := range b.messages {
			if msg.seq <= m.Last && !x.isDeleted(msg.seq) && !deleted[msg.subject] {
				have++
			}
		}
	}
	switch last := x.lastSeq(); {
	case have < want:
		return fmt.Errorf("%w: %d of %s up to number %d are missing%s", ErrCorrupt,
			want-have, humanize.Count(int(want), "message"), m.Last, x.describeGaps(m.Last))
	case last < m.Last:
		return fmt.Errorf("%w: the last message is number %d, want %d", ErrCorrupt, last, m.Last)
	}
	return nil
}

// expectedMessages returns how many messages there must be at least, and the
// hashes of the subjects that don't count because their runs are being deleted.
func (m highWater) expectedMessages() (messages uint64, deleted map[uint64]bool) {
	messages, deleted = m.Messages, make(map[uint64]bool)
	for _, d := range m.deleted {
		messages -= min(messages, d.Messages)
		deleted[hashSubject([]byte(subjectOf(d.Run)))] = true
	}
	return messages, deleted
}

// verifyLinks returns an error if a message above the mark follows one that is
// missing. Up to the mark, verifyCount suffices, and links may be broken: a
// crash can undo part of a deletion that the server had written.
func (x *blockIndex) verifyLinks(m highWater) error {
	_, deleted := m.expectedMessages()
	for _, b := range x.blocks {
		for _, msg := range b.messages {
			if msg.seq > m.Last && msg.previousSeq > 0 && !x.isDeleted(msg.seq) && !deleted[msg.subject] && !x.hasMessage(msg.previousSeq) {
				return fmt.Errorf("%w: message %d in %s follows message %d, which is missing%s",
					ErrCorrupt, msg.seq, b.path, msg.previousSeq, x.describeGaps(msg.seq))
			}
		}
	}
	return nil
}

// hasMessage reports whether the blocks hold the message with a sequence,
// deleted or not.
func (x *blockIndex) hasMessage(seq uint64) bool {
	for _, b := range x.blocks {
		if _, ok := slices.BinarySearchFunc(b.messages, seq, func(m blockMessage, seq uint64) int { return cmp.Compare(m.seq, seq) }); ok {
			return true
		}
	}
	return false
}

// describeGaps lists the first gaps in the sequences up to last that no deletion
// explains. A gap isn't always damage: the server removes blocks that deletions
// have emptied.
func (x *blockIndex) describeGaps(last uint64) string {
	const maxGaps = 3
	var gaps []string
	next, place := uint64(1), "at the beginning"
	addGap := func(to uint64) {
		for next <= to && x.isDeleted(next) {
			next++
		}
		if next <= to && len(gaps) < maxGaps {
			gaps = append(gaps, fmt.Sprintf("%d to %d, %s", next, to, place))
		}
	}
	for _, b := range x.blocks {
		for _, m := range b.messages {
			if m.seq > last {
				break
			}
			addGap(m.seq - 1)
			next, place = m.seq+1, fmt.Sprintf("after byte %d of %d.blk", m.end, b.number)
		}
	}
	if addGap(last); len(gaps) == 0 {
		return ""
	}
	return "; the gaps are " + strings.Join(gaps, "; ")
}
