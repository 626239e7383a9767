package datacmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/mattn/go-isatty"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/cli/command"
)

// A backupOutput is the destination of a backup: stdout, or a partial file that
// replaces the named one once it is complete.
type backupOutput struct {
	io.Writer
	messages io.Writer // for the user
	file     *os.File  // the partial file; nil for stdout
	lock     *flock.Flock
	path     string
}

// createOutput opens the output that the command line names.
func (c *Backup) createOutput(p *command.Program) (*backupOutput, error) {
	if c.File == "-" {
		if f, ok := p.Stdout.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
			return nil, command.UsageErrorf("stdout is a terminal, and a backup is binary: name a file")
		}
		return &backupOutput{Writer: p.Stdout, messages: p.Stderr}, nil
	}
	if err := c.resolveFile(); err != nil {
		return nil, err
	}
	removePartialBackups(c.File)
	for range 10 {
		f, lock, err := createPartialBackup(c.File)
		if err != nil {
			return nil, fmt.Errorf("the backup can't be written: %w", err)
		}
		if f != nil {
			return &backupOutput{Writer: f, messages: p.Stdout, file: f, lock: lock, path: c.File}, nil
		}
	}
	return nil, errors.New("the backup can't be written: other backups to the same file keep removing it")
}

// createPartialBackup creates and locks the partial file of a backup. It returns nil if
// another process removed the file before this one locked it.
func createPartialBackup(file string) (*os.File, *flock.Flock, error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+atomicfile.Partial+"*") // its mode is 0600
	if err != nil {
		return nil, nil, err
	}
	lock := newPartialLock(f.Name())
	locked, err := lock.TryLock()
	if locked {
		_, err = os.Lstat(f.Name())
	}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, nil, errors.Join(err, lock.Unlock(), f.Close(), os.Remove(f.Name()))
	case err != nil || !locked:
		return nil, nil, errors.Join(lock.Unlock(), f.Close())
	}
	return f, lock, nil
}

// newPartialLock returns the lock of a partial file. It doesn't make a file that is gone.
func newPartialLock(path string) *flock.Flock { return flock.New(path, flock.SetFlag(os.O_RDONLY)) }

// removePartialBackups removes the partial files of processes that were killed
// while they wrote a backup to file: no process has them locked.
func removePartialBackups(file string) {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return // creating a file there fails as well, and reports it
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), filepath.Base(file)+atomicfile.Partial) {
			continue
		}
		lock := newPartialLock(filepath.Join(filepath.Dir(file), e.Name()))
		if locked, err := lock.TryLock(); err == nil && locked {
			os.Remove(lock.Path())
			lock.Unlock()
		}
	}
}

// resolveFile follows symbolic links to the file that the backup replaces. It
// returns an error if that is not a regular file.
func (c *Backup) resolveFile() error {
	if real, err := filepath.EvalSymlinks(c.File); err == nil {
		c.File = real
	}
	switch info, err := os.Stat(c.File); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the backup can't be written: %w", err)
	case !info.Mode().IsRegular():
		return command.UsageErrorf("%s is not a regular file: name a file, or - for stdout", c.File)
	case !c.Replace:
		return fmt.Errorf("%s exists already: name another, or replace it with --replace", c.File)
	}
	return nil
}

// commitOrRemove syncs and renames the partial file if err is nil, and removes it
// otherwise. It returns err joined with its own error.
func (o *backupOutput) commitOrRemove(err error) error {
	if o.file == nil {
		return err
	}
	if err == nil {
		err = o.file.Sync()
	}
	err = errors.Join(err, o.file.Close())
	if err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(o.file.Name()))
	} else {
		err = atomicfile.SyncDir(filepath.Dir(o.path))
	}
	return errors.Join(err, o.lock.Unlock())
}
