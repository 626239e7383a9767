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

// A blockIndex locates every readable message in the server's block files.
type blockIndex struct {
	dir     string // the log's
	blocks  []*block
	deleted []uint64 // sequences of deleted messages, in order
}

// indexBlocks reads all blocks before the server does: the server truncates a
// block at the first message that it can't read, and carries on as if the rest
// had never existed. Blocks are read in parallel.
//
// It depends on version 1 of the server's file format; a test checks it against
// the server version in go.mod.
func indexBlocks(dir string) (*blockIndex, error) {
	paths, err := filepath.Glob(filepath.Join(messagesDir(dir), "*.blk"))
	if err != nil {
		return nil, err
	}
	x := &blockIndex{dir: dir, blocks: make([]*block, len(paths))}
	todo, errs := make(chan int, len(paths)), make([]error, len(paths))
	for i := range paths {
		todo <- i
	}
	close(todo)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			var buf []byte
			for i := range todo {
				if buf, errs[i] = readFileInto(buf, paths[i]); errs[i] == nil {
					x.blocks[i], errs[i] = readBlock(paths[i], buf)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	x.sort()
	return x, nil
}

// messagesDir returns the folder of the block files.
func messagesDir(dir string) string {
	return filepath.Join(dir, "jetstream", "$G", "streams", streamName, "msgs")
}

func (x *blockIndex) sort() {
	x.blocks = slices.DeleteFunc(x.blocks, func(b *block) bool { return b == nil })
	slices.SortFunc(x.blocks, func(a, b *block) int { return cmp.Compare(a.number, b.number) })
	for _, b := range x.blocks {
		x.deleted = append(x.deleted, b.deleted...)
	}
	slices.Sort(x.deleted)
}

// isDeleted reports whether the message with a sequence was deleted.
func (x *blockIndex) isDeleted(seq uint64) bool {
	_, deleted := slices.BinarySearch(x.deleted, seq)
	return deleted
}

// lastSeq returns the highest sequence of a message, deleted or not.
func (x *blockIndex) lastSeq() (last uint64) {
	if n := len(x.deleted); n > 0 {
		last = x.deleted[n-1]
	}
	for _, b := range x.blocks {
		for _, m := range b.messages {
			last = max(last, m.seq)
		}
	}
	return last
}

// findBlock returns the block with a number, or nil.
func (x *blockIndex) findBlock(number uint32) *block {
	i, ok := slices.BinarySearchFunc(x.blocks, number, func(b *block, n uint32) int { return cmp.Compare(b.number, n) })
	if !ok {
		return nil
	}
	return x.blocks[i]
}

// tornBytes returns how many bytes at the end of the last block are an
// incomplete message, as a crash leaves it. The server truncates them.
func (x *blockIndex) tornBytes() int64 {
	if len(x.blocks) == 0 {
		return 0
	}
	last := x.blocks[len(x.blocks)-1]
	if n := len(last.bad); n == 1 && last.bad[0].to == last.size {
		return last.size - last.bad[0].from
	}
	return 0
}
