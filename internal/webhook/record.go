package webhook

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// A record has the questions that were told, or soon will be, in memory and in a file. Of
// those that are settled, it keeps about as many as are open, or [minOld] if that is more.
// It isn't safe for concurrent use.
type record struct {
	path  string          // empty without a file
	file  *os.File        // nil without one
	told  map[string]bool // true of those that the file has
	sweep int             // from this many on, those that are settled are to be forgotten
}

// minOld is how many questions a record has before any is forgotten.
const minOld = 1_000

// openRecord reads the record in a file, and goes on with it.
func openRecord(path string) (*record, error) {
	r := &record{path: path, told: make(map[string]bool), sweep: minOld}
	if path == "" {
		return r, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading which questions were told: %w", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		r.told[lines.Text()] = true
	}
	return r, r.open()
}

func (r *record) open() (err error) {
	r.file, err = os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

func (r *record) has(askID string) bool { _, ok := r.told[askID]; return ok }

func (r *record) add(askID string) { r.told[askID] = false }

// drop forgets a question that was added and not written.
func (r *record) drop(askID string) {
	if !r.told[askID] {
		delete(r.told, askID)
	}
}

// write writes a question that was added to the file.
func (r *record) write(askID string) error {
	if r.file != nil {
		if _, err := r.file.WriteString(askID + "\n"); err != nil {
			return err
		}
	}
	r.told[askID] = true
	return nil
}

// old returns the questions that were written, if it is time to forget some. The caller
// then calls forget.
func (r *record) old() []string {
	if len(r.told) < r.sweep {
		return nil
	}
	r.sweep = 2 * len(r.told) // not again until forget says when
	return slices.Collect(func(yield func(string) bool) {
		for askID, written := range r.told {
			if written && !yield(askID) {
				return
			}
		}
	})
}

// forget forgets questions, and writes the file anew without them.
func (r *record) forget(askIDs []string) error {
	for _, askID := range askIDs {
		delete(r.told, askID)
	}
	r.sweep = max(minOld, 2*len(r.told))
	if r.file == nil {
		return nil
	}
	var lines bytes.Buffer
	for _, askID := range slices.Sorted(maps.Keys(r.told)) {
		if r.told[askID] {
			fmt.Fprintln(&lines, askID)
		}
	}
	if err := atomicfile.Write(r.path, lines.Bytes()); err != nil {
		return err
	}
	before := r.file
	if err := r.open(); err != nil {
		r.file = before
		return err
	}
	return before.Close()
}

func (r *record) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
