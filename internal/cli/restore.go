package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/web"
)

// restoreCommand is the command that makes a data folder of a backup.
type restoreCommand struct {
	File string `arg:"" help:"The backup; - is stdin."`
	Data string `required:"" placeholder:"DIR" type:"path" help:"The folder, which has to be empty, or not to be there."`
}

// Help is what --help says beside the flags.
func (*restoreCommand) Help() string {
	return "The backup is checked as it is read. A folder whose restore did not end is used by no Beam. " +
		"Let only one Beam go on with the runs: what two folders of one backup hold are the same runs, and each would do their work."
}

// restoreMarkFile is in a folder that is being restored.
const restoreMarkFile = "restoring"

// checkRestored is an error for a folder that was not restored to the end.
func (f *dataFolder) checkRestored() error {
	_, err := os.Stat(filepath.Join(f.dir, restoreMarkFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the data folder can't be used: %w", err)
	}
	return fmt.Errorf("the data folder %s holds part of a backup, whose restore did not end: delete what is in it, and restore it again", f.dir)
}

// Run restores.
func (c *restoreCommand) Run(ctx context.Context, p *program) (err error) {
	var in io.Reader = p.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("the backup can't be read: %w", err)
		}
		defer f.Close()
		in = f
	}
	f, err := c.prepareFolder()
	if err != nil {
		return err
	}
	sum, err := f.restoreFrom(ctx, p, in)
	if err != nil {
		return errors.Join(fmt.Errorf("nothing is restored: %w", err), f.removeRestored(), f.lock.Unlock())
	}
	if err := errors.Join(f.syncAndUnmark(), f.lock.Unlock()); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "restored %s, backed up %s\n", describeSummary(sum), sum.CreatedAt.Local().Format("2006-01-02 15:04:05"))
	return nil
}

// prepareFolder takes an empty folder, and marks it.
func (c *restoreCommand) prepareFolder() (*dataFolder, error) {
	if entries, err := os.ReadDir(c.Data); err == nil && !isEmptyFolder(entries) {
		return nil, fmt.Errorf("the folder %s is not empty: a backup is restored to one of its own", c.Data)
	}
	f, err := lockDataFolder(c.Data)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(f.dir) // now that nobody else restores to it
	if err == nil && !isEmptyFolder(entries) {
		err = fmt.Errorf("the folder %s is not empty: a backup is restored to one of its own", f.dir)
	}
	if err == nil {
		err = f.markRestoring()
	}
	if err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	return f, nil
}

// isEmptyFolder tells whether nobody put anything there: a file system has a folder of
// its own at its root, and a lock may be left.
func isEmptyFolder(entries []os.DirEntry) bool {
	for _, e := range entries {
		if e.Name() != "lock" && e.Name() != "lost+found" {
			return false
		}
	}
	return true
}

// markRestoring makes the folder one that no Beam uses, and has the disk know.
func (f *dataFolder) markRestoring() error {
	m, err := os.OpenFile(filepath.Join(f.dir, restoreMarkFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(m.Sync(), m.Close(), atomicfile.SyncDir(f.dir))
}

// restoreFrom fills the folder.
func (f *dataFolder) restoreFrom(ctx context.Context, p *program, in io.Reader) (sum backup.Summary, err error) {
	if f.blobs, err = blob.Open(filepath.Join(f.dir, blobFolder)); err != nil {
		return sum, err
	}
	err = f.withLog(ctx, p, func(l runlog.Log) error {
		if sum, err = backup.Restore(ctx, in, f.backupParts(l)); err != nil {
			return err
		}
		_, err = web.LoadKeys(f.dir) // or no Beam would start
		return err
	})
	return sum, errors.Join(err, f.blobs.Close())
}

// syncAndUnmark makes the folder one that a Beam may use, once the disk has all of it.
func (f *dataFolder) syncAndUnmark() error {
	err := filepath.WalkDir(f.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return atomicfile.SyncDir(path)
		case e.Type().IsRegular() && e.Name() != "lock":
			return syncFile(path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(f.dir, restoreMarkFile)), atomicfile.SyncDir(f.dir))
}

// removeRestored removes what a restore that failed has made, the mark last.
func (f *dataFolder) removeRestored() (err error) {
	for _, name := range []string{logFolder, blobFolder, secretKeysFolder, web.KeysFile} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(f.dir, name)))
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(f.dir, restoreMarkFile)), os.Remove(f.lock.Path()))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
