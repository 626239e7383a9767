package keyring

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// memory keeps keys in memory. Its zero value has none.
type memory struct {
	mu   sync.Mutex
	keys map[string][]byte
}

func (m *memory) get(run string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.keys[run], nil
}

func (m *memory) create(run string, key []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys == nil {
		m.keys = make(map[string][]byte)
	}
	if m.keys[run] == nil {
		m.keys[run] = key
	}
	return m.keys[run], nil
}

func (m *memory) delete(run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.keys, run)
	return nil
}

func (m *memory) runs() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.keys)), nil
}

// A folder keeps each key in a file.
type folder struct {
	dir string
	mu  sync.Mutex // held while a key is created
}

func (f *folder) file(run string) string { return filepath.Join(f.dir, run) }

// get implements [storage]. What it returns is shorter than a key if the process was killed when
// it created it.
func (f *folder) get(run string) ([]byte, error) {
	key, err := os.ReadFile(f.file(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return key, err
}

func (f *folder) create(run string, key []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if found, err := f.get(run); err != nil || len(found) == keySize {
		return found, err
	}
	if err := f.createDir(); err != nil {
		return nil, err
	}
	return key, writeFileSynced(f.file(run), key)
}

func (f *folder) delete(run string) error {
	err := os.Remove(f.file(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f *folder) runs() (ids []string, err error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids, err
}

// createDir creates the folder if necessary.
func (f *folder) createDir() error {
	if _, err := os.Stat(f.dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.dir))
}

// writeFileSynced writes a file that survives a crash, as does its name: an answer
// that was recorded must stay readable.
func writeFileSynced(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// syncDir makes the names in a folder durable. Tests replace it.
var syncDir = atomicfile.SyncDir
