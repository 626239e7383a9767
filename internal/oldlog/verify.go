package oldlog

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/photon-beam/beam/internal/humanize"
)

// dropDeleted sorts the messages, and drops those with tombstones and those of runs
// whose deletion was only recorded. Unless that leaves as many as there must be, the
// first messages of blocks may be deleted as well; see [readFirstSeqs].
func (f *Folder) dropDeleted(tombstones []uint64, isDamaged bool) {
	slices.Sort(tombstones)
	slices.SortStableFunc(f.messages, func(a, b message) int { return cmp.Compare(a.seq, b.seq) })
	f.messages = slices.CompactFunc(f.messages, func(a, b message) bool { return a.seq == b.seq })
	f.messages = slices.DeleteFunc(f.messages, func(m message) bool {
		_, dead := slices.BinarySearch(tombstones, m.seq)
		_, deleting := f.mark.deleted[m.run.id]
		return dead || deleting && m.seq <= f.mark.Last
	})
	have, want := f.countMarked(), f.mark.expectedMessages()
	if have == want && f.mark.Last > 0 {
		return
	}
	all, firstSeqs := f.messages, readFirstSeqs(f.dir)
	f.messages = slices.DeleteFunc(slices.Clone(all), func(m message) bool { return m.seq < firstSeqs[f.blocks[m.block].number] })
	if !isDamaged && have > want && f.countMarked() < want {
		f.messages = all // the server had brought them back before it wrote the mark
	}
}

// countMarked returns the number of messages up to the mark.
func (f *Folder) countMarked() uint64 {
	n, _ := slices.BinarySearchFunc(f.messages, f.mark.Last+1, func(m message, seq uint64) int { return cmp.Compare(m.seq, seq) })
	return uint64(n)
}

// verifyCount compares the messages with the high-water mark. The error is [ErrCorrupt].
func (f *Folder) verifyCount(tombstones []uint64) error {
	have, want := f.countMarked(), f.mark.expectedMessages()
	if f.mark.Last > 0 && have > want {
		f.report.Returned = int(have - want)
	}
	last := slices.Max(append(tombstones, 0))
	if n := len(f.messages); n > 0 {
		last = max(last, f.messages[n-1].seq)
	}
	switch {
	case have < want:
		return fmt.Errorf("%w: %d of %s up to number %d are missing", ErrCorrupt, want-have, humanize.Count(int(want), "message"), f.mark.Last)
	case have > want:
		return fmt.Errorf("%w: %s that had been deleted can't be told from others", ErrCorrupt, humanize.Count(int(have-want), "message"))
	case last < f.mark.Last:
		return fmt.Errorf("%w: the last message is number %d, want %d", ErrCorrupt, last, f.mark.Last)
	}
	return nil
}

// verifyBlocks returns [ErrCorrupt] if part of a block can't be read, unless it is the
// end of the last block and a crash may have torn it, or if the sizes aren't those that a
// clean stop recorded.
func (f *Folder) verifyBlocks() error {
	sizes := maps.Clone(f.mark.blocks)
	for i, b := range f.blocks {
		if len(b.bad) > 0 {
			isEnd := i == len(f.blocks)-1 && len(b.bad) == 1 && b.bad[0].to == b.size
			if !isEnd || sizes != nil {
				return fmt.Errorf("%w: bytes %d to %d of %d in %s can't be read", ErrCorrupt, b.bad[0].from, b.bad[0].to, b.size, b.path)
			}
			f.report.TornBytes = b.size - b.bad[0].from
		}
		if want := sizes[b.number]; sizes != nil && b.size != want {
			return fmt.Errorf("%w: %s has %d bytes, want %d", ErrCorrupt, b.path, b.size, want)
		}
		delete(sizes, b.number)
	}
	if missing := slices.Sorted(maps.Keys(sizes)); len(missing) > 0 {
		return fmt.Errorf("%w: %s is missing", ErrCorrupt, filepath.Join(messagesDir(f.dir), fmt.Sprint(missing[0], ".blk")))
	}
	return nil
}

// selectMessages drops the messages that don't follow those before them in their run,
// and completes the report. A message that starts a run shows that those before it were
// deleted: the server had none. The error is [ErrCorrupt].
func (f *Folder) selectMessages() error {
	truncated, headless := f.report.Truncated, make(map[string]bool)
	f.messages = slices.DeleteFunc(f.messages, func(m message) bool {
		r := m.run
		switch {
		case m.seq < r.startSeq || truncated[r.id] > 0:
			return true
		case r.next == 0 && m.first != 1:
			headless[r.id] = true
			return true
		case r.next > 0 && m.first != r.next:
			truncated[r.id] = r.next
			return true
		case r.next == 0:
			f.report.Runs++
		}
		r.next = m.first + uint64(m.count)
		return false
	})
	f.report.Headless = slices.Sorted(maps.Keys(headless))
	f.report.Appends = len(f.messages)
	if ids := slices.Concat(f.report.Headless, slices.Sorted(maps.Keys(truncated))); len(ids) > 0 {
		return fmt.Errorf("%w: entries of %s are missing: %s", ErrCorrupt, humanize.Count(len(ids), "run"), humanize.List(ids, 3))
	}
	return nil
}
