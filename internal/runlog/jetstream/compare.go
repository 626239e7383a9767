package jetstream

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// against holds what is there against what must be. The error is [ErrCorrupt],
// with the first place where they differ.
func (s *survey) against(m highWater) error {
	if err := s.readable(m); err != nil {
		return err
	}
	if m.blocks != nil {
		if err := s.sizes(m.blocks); err != nil {
			return err
		}
	}
	if err := s.counted(m); err != nil {
		return err
	}
	return s.chained(m)
}

// readable is an error if a message can't be read that a crash did not tear.
func (s *survey) readable(m highWater) error {
	for i, b := range s.blocks {
		if len(b.bad) == 0 || i == len(s.blocks)-1 && s.torn() > 0 && m.blocks == nil {
			continue
		}
		return fmt.Errorf("%w: %s can't be read from byte %d to byte %d of %d", ErrCorrupt, b.path, b.bad[0].from, b.bad[0].to, b.size)
	}
	return nil
}

// sizes compares the blocks with those that a clean stop left.
func (s *survey) sizes(want map[uint32]int64) error {
	for n, size := range want {
		switch b := s.block(n); {
		case b == nil:
			return fmt.Errorf("%w: the block %s is not there", ErrCorrupt, filepath.Join(messagesDir(s.dir), fmt.Sprint(n, ".blk")))
		case b.size != size:
			return fmt.Errorf("%w: %s has %d bytes, and had %d", ErrCorrupt, b.path, b.size, size)
		}
	}
	return nil
}

// counted compares how many messages there are up to the mark.
func (s *survey) counted(m highWater) error {
	want, deleted := m.left()
	var have uint64
	for _, b := range s.blocks {
		for _, msg := range b.messages {
			if msg.seq <= m.Last && !s.isDeleted(msg.seq) && !deleted[msg.subject] {
				have++
			}
		}
	}
	switch last := s.last(); {
	case have < want:
		return fmt.Errorf("%w: of %d messages up to number %d, %d are there%s", ErrCorrupt, want, m.Last, have, s.missing(m.Last))
	case last < m.Last:
		return fmt.Errorf("%w: the last message is number %d, and was %d", ErrCorrupt, last, m.Last)
	}
	return nil
}

// left is how many messages there are to be, and the hashes of the subjects that
// may have any number.
func (m highWater) left() (messages uint64, deleted map[uint64]bool) {
	messages, deleted = m.Messages, make(map[uint64]bool)
	for _, d := range m.deleted {
		messages -= min(messages, d.Messages)
		deleted[hashSubject([]byte(subjectOf(d.Run)))] = true
	}
	return messages, deleted
}

// chained is an error if a message above the mark follows one that is not there.
// Up to the mark, the count tells; what the engine wrote of a deletion may be
// gone there, so that part of a deleted run seems to be back.
func (s *survey) chained(m highWater) error {
	_, deleted := m.left()
	for _, b := range s.blocks {
		for _, msg := range b.messages {
			if msg.seq > m.Last && msg.after > 0 && !s.isDeleted(msg.seq) && !deleted[msg.subject] && !s.has(msg.after) {
				return fmt.Errorf("%w: message %d in %s follows message %d, which is not there%s",
					ErrCorrupt, msg.seq, b.path, msg.after, s.missing(msg.seq))
			}
		}
	}
	return nil
}

// has tells whether the message of a sequence is there, deleted or not.
func (s *survey) has(seq uint64) bool {
	for _, b := range s.blocks {
		if _, ok := slices.BinarySearchFunc(b.messages, seq, func(m messageLength, seq uint64) int { return cmp.Compare(m.seq, seq) }); ok {
			return true
		}
	}
	return false
}

// missing says where messages up to a sequence may be missing: where the
// sequences have gaps that no deletion explains. An emptied block that the engine
// has removed leaves one, too.
func (s *survey) missing(last uint64) string {
	const most = 3
	var places []string
	next, after := uint64(1), "at the beginning"
	gap := func(to uint64) {
		for next <= to && s.isDeleted(next) {
			next++
		}
		if next <= to && len(places) < most {
			places = append(places, fmt.Sprintf("%d to %d, %s", next, to, after))
		}
	}
	for _, b := range s.blocks {
		for _, m := range b.messages {
			if m.seq > last {
				break
			}
			gap(m.seq - 1)
			next, after = m.seq+1, fmt.Sprintf("after byte %d of %d.blk", m.end, b.number)
		}
	}
	if gap(last); len(places) == 0 {
		return ""
	}
	return "; missing are some of " + strings.Join(places, "; ")
}
