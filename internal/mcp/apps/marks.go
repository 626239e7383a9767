package apps

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A Part is a part of what the model is told of a run's end.
type Part string

// The parts, in the order in which they are told.
const (
	Context Part = "context" // ui/update-model-context
	Message Part = "message" // ui/message
)

// Told says which parts the model was told, or is being told.
type Told struct {
	Context bool `json:"context,omitempty"`
	Message bool `json:"message,omitempty"`
}

// Marks records which parts the model was told of which runs, so that views which are
// loaded again, and second views, don't repeat them. Each mark is an empty file, which
// lasts as long as the run. The methods may be called concurrently, also by several
// processes.
type Marks struct {
	dir string // empty keeps them in memory

	mu   sync.Mutex
	held map[string]bool // without a dir
}

// NewMarks returns the marks in a folder, which it creates when it first needs it. If dir
// is empty, they are only in memory.
func NewMarks(dir string) *Marks { return &Marks{dir: dir, held: map[string]bool{}} }

// Claim sets a mark and reports whether it was not set before: of several callers, one
// gets true.
func (m *Marks) Claim(run string, part Part) (first bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := markName(run, part)
	if m.dir == "" {
		first = !m.held[name]
		m.held[name] = true
		return first, nil
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return false, err
	}
	file, err := os.OpenFile(filepath.Join(m.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}

// Release removes a mark, for a caller whose claim came to nothing.
func (m *Marks) Release(run string, part Part) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := markName(run, part)
	delete(m.held, name)
	if m.dir == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(m.dir, name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Told returns the marks of a run.
func (m *Marks) Told(run string) Told { return Told{m.has(run, Context), m.has(run, Message)} }

func (m *Marks) has(run string, part Part) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := markName(run, part)
	if m.dir == "" {
		return m.held[name]
	}
	_, err := os.Stat(filepath.Join(m.dir, name))
	return err == nil
}

// Sweep removes the marks of runs that no longer exist.
func (m *Marks) Sweep(exists func(run string) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.held {
		if run, _, _ := strings.Cut(name, "."); !exists(run) {
			delete(m.held, name)
		}
	}
	if m.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(m.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if run, _, _ := strings.Cut(e.Name(), "."); !exists(run) {
			err = errors.Join(err, os.Remove(filepath.Join(m.dir, e.Name())))
		}
	}
	return err
}

// markName returns the name of a mark. The engine knows the run, so its id is safe in a
// path.
func markName(run string, part Part) string { return run + "." + string(part) }
