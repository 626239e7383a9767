package sqlite

import (
	"encoding/binary"

	"github.com/ncruces/go-sqlite3/vfs"
)

// walFrames is SQLite's write-ahead log. SQLite writes each changed page with two calls; the
// file gathers them, and writes a transaction at once when its last page has come. Until then,
// nobody but the connection that writes them looks for them.
//
// See "The WAL File Format" in https://sqlite.org/fileformat2.html.
type walFrames struct {
	vfs.File
	frames   []byte // to be written at start
	start    int64
	end      int64 // of the last write
	isCommit bool  // the last frame ends its transaction
}

// A frame is a page after a header.
const (
	frameHeaderSize = 24
	maxFrames       = 1 << 20 // bytes
)

// WriteAt implements [io.WriterAt]. The error may be that of an earlier write.
func (w *walFrames) WriteAt(p []byte, off int64) (int, error) {
	isNext, isHeader := off == w.end, len(p) == frameHeaderSize
	w.end = off + int64(len(p))
	switch {
	case !isNext || len(w.frames) == 0 && !isHeader: // the log's own header, or a frame that is changed
		if err := w.flush(); err != nil {
			return 0, err
		}
		return writeAt(w.File, p, off)
	case len(w.frames) == 0:
		w.start = off
	}
	w.frames = append(w.frames, p...)
	if isHeader {
		w.isCommit = binary.BigEndian.Uint32(p[4:]) != 0 // the number of the database's pages, then
	} else if w.isCommit || len(w.frames) >= maxFrames {
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// flush writes what was gathered.
func (w *walFrames) flush() error {
	frames := w.frames
	w.frames = w.frames[:0]
	if len(frames) == 0 {
		return nil
	}
	_, err := writeAt(w.File, frames, w.start)
	return err
}

// ReadAt implements [io.ReaderAt].
func (w *walFrames) ReadAt(p []byte, off int64) (int, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	return w.File.ReadAt(p, off)
}

// Truncate implements [vfs.File].
func (w *walFrames) Truncate(size int64) error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.File.Truncate(size)
}

// Sync implements [vfs.File].
func (w *walFrames) Sync(flags vfs.SyncFlag) error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.File.Sync(flags)
}

// Size implements [vfs.File].
func (w *walFrames) Size() (int64, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	return w.File.Size()
}
