package beam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/archive"
	"github.com/photon-beam/beam/internal/lasting"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/web"
)

// restore is the command that makes a data folder of a backup.
type restore struct {
	File string `arg:"" help:"The backup; - is stdin."`
	Data string `required:"" placeholder:"DIR" type:"path" help:"The folder, which has to be empty, or not to be there."`
}

// Help is what --help says beside the flags.
func (*restore) Help() string {
	return "The backup is checked as it is read. A folder whose restore did not end is used by no Beam. " +
		"Let only one Beam go on with the runs: what two folders of one backup hold are the same runs, and each would do their work."
}

// restoringFile is in a folder that is being restored.
const restoringFile = "restoring"

// whole is an error for a folder that was not restored to the end.
func (f *folder) whole() error {
	_, err := os.Stat(filepath.Join(f.dir, restoringFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the data folder can't be used: %w", err)
	}
	return fmt.Errorf("the data folder %s holds part of a backup, whose restore did not end: delete what is in it, and restore it again", f.dir)
}

// Run restores.
func (c *restore) Run(ctx context.Context, p *program) (err error) {
	var in io.Reader = p.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("the backup can't be read: %w", err)
		}
		defer f.Close()
		in = f
	}
	f, err := c.begin()
	if err != nil {
		return err
	}
	sum, err := f.restore(ctx, p, in)
	if err != nil {
		return errors.Join(fmt.Errorf("nothing is restored: %w", err), f.clear(), f.lock.Unlock())
	}
	if err := errors.Join(f.seal(), f.lock.Unlock()); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "restored %s, backed up %s\n", summed(sum), sum.Made.Local().Format("2006-01-02 15:04:05"))
	return nil
}

// begin takes an empty folder, and marks it.
func (c *restore) begin() (*folder, error) {
	if entries, err := os.ReadDir(c.Data); err == nil && !empty(entries) {
		return nil, fmt.Errorf("the folder %s is not empty: a backup is restored to one of its own", c.Data)
	}
	f, err := lockFolder(c.Data)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(f.dir) // now that nobody else restores to it
	if err == nil && !empty(entries) {
		err = fmt.Errorf("the folder %s is not empty: a backup is restored to one of its own", f.dir)
	}
	if err == nil {
		err = f.mark()
	}
	if err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	return f, nil
}

// empty tells whether nobody put anything there: a file system has a folder of
// its own at its root, and a lock may be left.
func empty(entries []os.DirEntry) bool {
	for _, e := range entries {
		if e.Name() != "lock" && e.Name() != "lost+found" {
			return false
		}
	}
	return true
}

// mark makes the folder one that no Beam uses, and has the disk know.
func (f *folder) mark() error {
	m, err := os.OpenFile(filepath.Join(f.dir, restoringFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(m.Sync(), m.Close(), lasting.SyncFolder(f.dir))
}

// restore fills the folder.
func (f *folder) restore(ctx context.Context, p *program, in io.Reader) (sum archive.Summary, err error) {
	if f.blobs, err = blob.Open(filepath.Join(f.dir, blobFolder)); err != nil {
		return sum, err
	}
	err = f.withLog(ctx, p, func(l log.Log) error {
		if sum, err = archive.Restore(ctx, in, f.parts(l)); err != nil {
			return err
		}
		_, err = web.LoadKeys(f.dir) // or no Beam would start
		return err
	})
	return sum, errors.Join(err, f.blobs.Close())
}

// seal makes the folder one that a Beam may use, once the disk has all of it.
func (f *folder) seal() error {
	err := filepath.WalkDir(f.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return lasting.SyncFolder(path)
		case e.Type().IsRegular() && e.Name() != "lock":
			return syncFile(path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(f.dir, restoringFile)), lasting.SyncFolder(f.dir))
}

// clear removes what a restore that failed has made, the mark last.
func (f *folder) clear() (err error) {
	for _, name := range []string{logFolder, blobFolder, keyFolder, web.KeysFile} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(f.dir, name)))
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(f.dir, restoringFile)), os.Remove(f.lock.Path()))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
