package jetstream

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// A survey is what the engine's blocks hold, as far as they can be read, in the
// order of their numbers.
type survey struct {
	dir     string // the log's
	blocks  []*block
	deleted []uint64 // sequences of deleted messages, in order
}

// surveyBlocks reads all blocks once, on all processors, before the engine does:
// the engine cuts a block off at the first message that it can't read, and goes
// on as if the rest had never been.
//
// It knows the engine's file format, version 1; a test holds it to the version
// of the engine in go.mod.
func surveyBlocks(dir string) (*survey, error) {
	paths, err := filepath.Glob(filepath.Join(messagesDir(dir), "*.blk"))
	if err != nil {
		return nil, err
	}
	s := &survey{dir: dir, blocks: make([]*block, len(paths))}
	todo, failed := make(chan int, len(paths)), make([]error, len(paths))
	for i := range paths {
		todo <- i
	}
	close(todo)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			var buf []byte
			for i := range todo {
				if buf, failed[i] = readFileInto(buf, paths[i]); failed[i] == nil {
					s.blocks[i], failed[i] = readBlock(paths[i], buf)
				}
			}
		})
	}
	all.Wait()
	for _, err := range failed {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	s.sort()
	return s, nil
}

// messagesDir is the folder of the blocks.
func messagesDir(dir string) string {
	return filepath.Join(dir, "jetstream", "$G", "streams", streamName, "msgs")
}

func (s *survey) sort() {
	s.blocks = slices.DeleteFunc(s.blocks, func(b *block) bool { return b == nil })
	slices.SortFunc(s.blocks, func(a, b *block) int { return cmp.Compare(a.number, b.number) })
	for _, b := range s.blocks {
		s.deleted = append(s.deleted, b.deleted...)
	}
	slices.Sort(s.deleted)
}

// isDeleted tells whether the message of a sequence was deleted.
func (s *survey) isDeleted(seq uint64) bool {
	_, deleted := slices.BinarySearch(s.deleted, seq)
	return deleted
}

// last is the sequence of the last message that was there, even if it was
// deleted.
func (s *survey) last() (last uint64) {
	if n := len(s.deleted); n > 0 {
		last = s.deleted[n-1]
	}
	for _, b := range s.blocks {
		for _, m := range b.messages {
			last = max(last, m.seq)
		}
	}
	return last
}

// block with a number; nil if there is none.
func (s *survey) block(number uint32) *block {
	i, ok := slices.BinarySearchFunc(s.blocks, number, func(b *block, n uint32) int { return cmp.Compare(b.number, n) })
	if !ok {
		return nil
	}
	return s.blocks[i]
}

// torn is how many bytes a crash left at the end of the last block that are no
// message. The engine cuts them off.
func (s *survey) torn() int64 {
	if len(s.blocks) == 0 {
		return 0
	}
	last := s.blocks[len(s.blocks)-1]
	if n := len(last.bad); n == 1 && last.bad[0].to == last.size {
		return last.size - last.bad[0].from
	}
	return 0
}
