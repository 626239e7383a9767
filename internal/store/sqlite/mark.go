package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/runlog"
)

// A mark is a file with how many commits were synced. It is written after they were, so it
// never has more. It has two copies, in sectors of their own, which are written in turn: one
// that a power failure tears leaves the other.
type mark struct {
	mu      sync.Mutex
	file    *os.File
	id      []byte
	commits int64
	copy    int64 // that was written last
}

const (
	markSector = 512
	markMagic  = "beam mark 1\n"
	markSize   = len(markMagic) + 16 + 8 + 4
)

// encodeMark returns the magic, the store's id, the number, and a checksum of them.
func encodeMark(id []byte, commits int64) []byte {
	buf := append([]byte(markMagic), id...)
	buf = binary.BigEndian.AppendUint64(buf, uint64(commits))
	return binary.BigEndian.AppendUint32(buf, crc32.ChecksumIEEE(buf))
}

func decodeMark(buf []byte) (id []byte, commits int64, ok bool) {
	if len(buf) < markSize || !bytes.HasPrefix(buf, []byte(markMagic)) || binary.BigEndian.Uint32(buf[markSize-4:]) != crc32.ChecksumIEEE(buf[:markSize-4]) {
		return nil, 0, false
	}
	return buf[len(markMagic) : markSize-12], int64(binary.BigEndian.Uint64(buf[markSize-12:])), true
}

// createMark writes the mark of a database with one commit, both of its copies.
func createMark(path string, id []byte) error {
	content := make([]byte, markSector+markSize)
	copy(content, encodeMark(id, 1))
	copy(content[markSector:], encodeMark(id, 1))
	return atomicfile.Write(path, content)
}

func openMark(path string) (*mark, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	m := &mark{file: file}
	content := make([]byte, markSector+markSize)
	if _, err := file.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, file.Close())
	}
	for i := range int64(2) {
		if id, commits, ok := decodeMark(content[i*markSector:]); ok && commits > m.commits {
			m.id, m.commits, m.copy = id, commits, i
		}
	}
	if m.id == nil {
		return nil, errors.Join(fmt.Errorf("%w: %s can't be read", runlog.ErrCorrupt, path), file.Close())
	}
	return m, nil
}

// check returns [runlog.ErrCorrupt] if a database lacks commits that were synced.
func (m *mark) check(id []byte, commits int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !bytes.Equal(m.id, id):
		return fmt.Errorf("%w: %s belongs to another database", runlog.ErrCorrupt, m.file.Name())
	case commits < m.commits:
		return fmt.Errorf("%w: the database has %d transactions of %d: its write-ahead log is damaged or missing", runlog.ErrCorrupt, commits, m.commits)
	}
	return nil
}

// advance notes that so many commits were synced.
func (m *mark) advance(commits int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if commits <= m.commits {
		return nil
	}
	next := 1 - m.copy
	_, err := m.file.WriteAt(encodeMark(m.id, commits), next*markSector)
	if err == nil {
		m.commits, m.copy = commits, next
	}
	return err
}

func (m *mark) close() error { return errors.Join(m.file.Sync(), m.file.Close()) }

// ReadMark returns the database in a folder whose mark that is, and how many of its commits were
// synced.
func ReadMark(dir string) (id []byte, commits int64, err error) {
	m, err := openMark(filepath.Join(dir, markFile))
	if err != nil {
		return nil, 0, err
	}
	return m.id, m.commits, m.close()
}
