package oldlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// The first word of the file "format" is the version of the folder. Version 2 added
// the high-water mark.
const (
	formatName   = "format"
	formatNoMark = 1
	formatMarked = 2
	formatRaised = 3 // by RaiseFormat; what was there before follows it
)

// stateNoStream follows the version of a folder that was made for a log to which
// nothing has been appended.
const stateNoStream = "unborn"

// A format is what the file of that name says.
type format struct {
	raised bool   // by RaiseFormat
	text   string // what it says, or said before it was raised
	marked bool   // the folder has a high-water mark
}

// readFormat reads the format of a folder. The error is [fs.ErrNotExist] if it holds
// no log, [ErrNewerFormat], [ErrCorrupt] or the file system's.
func readFormat(dir string) (f format, err error) {
	path := filepath.Join(dir, formatName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(filepath.Join(dir, "jetstream")); statErr == nil {
			return f, fmt.Errorf("%w: %s holds a log, but has no file %q", ErrCorrupt, dir, formatName)
		}
	}
	if err != nil {
		return f, err
	}
	f.text = strings.TrimSpace(string(raw))
	if before, ok := strings.CutPrefix(f.text, fmt.Sprint(formatRaised, " ")); ok {
		f.raised, f.text = true, before
	}
	number, state, _ := strings.Cut(f.text, " ")
	version, err := strconv.Atoi(number)
	switch {
	case err != nil || version < formatNoMark:
		return f, fmt.Errorf("%w: %s contains %.20q", ErrCorrupt, path, raw)
	case version > formatMarked:
		return f, fmt.Errorf("%w: %s has format %d; this version reads up to format %d", ErrNewerFormat, dir, version, formatMarked)
	}
	f.marked = version == formatMarked && state != stateNoStream
	return f, nil
}

// RaiseFormat makes the programs that wrote the log in a folder refuse it, as that of
// a newer version. [Open] still reads it. When RaiseFormat returns, this is on the
// disk. It may be called again, also after it was killed.
func RaiseFormat(dir string) error {
	return changeFormat(dir, func(f format) (string, bool) { return fmt.Sprint(formatRaised, " ", f.text), f.raised })
}

// RestoreFormat undoes [RaiseFormat]. It may be called again, also after it was
// killed, and if the format isn't raised.
func RestoreFormat(dir string) error {
	return changeFormat(dir, func(f format) (string, bool) { return f.text, !f.raised })
}

// changeFormat replaces the format by the one that change returns, unless that is done.
func changeFormat(dir string, change func(format) (text string, done bool)) error {
	f, err := readFormat(dir)
	if err != nil {
		return err
	}
	if err := atomicfile.Sweep(dir); err != nil {
		return err
	}
	text, done := change(f)
	if done {
		return atomicfile.SyncDir(dir) // the process that changed it may not have come to that
	}
	return atomicfile.Write(filepath.Join(dir, formatName), []byte(text+"\n"))
}
