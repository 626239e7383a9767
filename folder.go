package beam

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gofrs/flock"

	"github.com/photon-beam/beam/internal/joint"
	"github.com/photon-beam/beam/internal/lasting"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
	"github.com/photon-beam/beam/internal/log/jetstream"
	"github.com/photon-beam/beam/web"
)

// folder is where Beam keeps what outlives a request. One process owns it.
type folder struct {
	dir       string
	temporary bool
	lock      *flock.Flock
	socket    *joint.Server // where others join; nil for a temporary folder
	keys      web.Keys
	blobs     *blob.Store
}

// What the folder holds, besides the keys of sessions.
const (
	blobFolder = "blobs" // what is too large for the log
	logFolder  = "log"
	keyFolder  = "keys" // of secret answers, a file a run
)

// openFolder takes a folder into use, making it if need be; an empty dir is the
// user's own folder for programs' state.
func openFolder(dir string) (*folder, error) {
	f, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	if err := f.whole(); err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	if f.socket, err = joint.Listen(f.dir); err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	return f.filled()
}

// lockFolder makes this process the owner of a folder. The error is errInUse if
// another is.
func lockFolder(dir string) (*folder, error) {
	dir, err := dataDir(dir)
	if err != nil {
		return nil, err
	}
	if err := lasting.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("the data folder can't be made: %w", err)
	}
	if err := closed(dir); err != nil {
		return nil, err
	}
	f := &folder{dir: dir, lock: lockOf(dir)}
	locked, err := f.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("the data folder can't be used: %w", err)
	}
	if !locked {
		return nil, errInUse
	}
	return f, nil
}

var errInUse = errors.New("the data folder is in use by another Beam")

// besideFolder is a temporary folder beside the user's own, which another Beam
// has in use. Its browser sessions are the same: who signed in there is signed
// in here.
func besideFolder() (*folder, error) {
	f, err := temporaryFolder()
	if err != nil {
		return nil, err
	}
	dir, err := stateDir()
	if err == nil {
		f.keys, err = web.LoadKeys(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// closed sees to it that nobody else can enter the folder: who can write there
// can replace the keys of all sessions. It changes no folder that has other
// things in it.
func closed(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("the data folder can't be used: %w", err)
	}
	own := len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == web.KeysFile })
	if own {
		err = os.Chmod(dir, 0o700)
	}
	if !own || err != nil {
		return fmt.Errorf("the data folder %s can be entered by others (its mode is %o): chmod 700 it, or choose another folder with --data",
			dir, info.Mode().Perm())
	}
	return nil
}

// filled opens what the folder holds, or lets it go again.
func (f *folder) filled() (*folder, error) {
	err := f.fill()
	switch {
	case err == nil:
		return f, nil
	case f.temporary:
		return nil, errors.Join(err, os.RemoveAll(f.dir), f.lock.Unlock())
	default:
		return nil, errors.Join(err, f.socket.Stop(), f.lock.Unlock())
	}
}

// fill opens what the folder holds, without what those who were killed left.
func (f *folder) fill() (err error) {
	if err := lasting.Sweep(f.dir); err != nil {
		return fmt.Errorf("the data folder can't be used: %w", err)
	}
	if f.keys, err = web.LoadKeys(f.dir); err != nil {
		return fmt.Errorf("the data folder can't be used: %w", err)
	}
	if f.blobs, err = blob.Open(filepath.Join(f.dir, blobFolder)); err != nil {
		return fmt.Errorf("the data folder can't be used: %w", err)
	}
	if err := f.blobs.Sweep(); err != nil {
		return errors.Join(fmt.Errorf("the data folder can't be used: %w", err), f.blobs.Close())
	}
	return nil
}

// openLog opens the log: in memory for a folder that is removed at the end, in
// the folder otherwise.
func (f *folder) openLog(ctx context.Context, syncAlways bool, logger *slog.Logger) (log.Log, func() error, error) {
	if f.temporary {
		return log.NewMemory(), func() error { return nil }, nil
	}
	l, err := jetstream.Open(ctx, jetstream.Options{Dir: filepath.Join(f.dir, logFolder), SyncAlways: syncAlways, Logger: logger})
	if err != nil {
		return nil, nil, fmt.Errorf("the log in the data folder can't be opened: %w", err)
	}
	return l, l.Close, nil
}

// close lets the folder go.
func (f *folder) close() error {
	err := f.blobs.Close()
	if f.temporary {
		return errors.Join(err, os.RemoveAll(f.dir), f.lock.Unlock())
	}
	return errors.Join(err, f.socket.Stop(), f.lock.Unlock())
}

// dataDir is the folder that --data names: the user's own if it names none.
func dataDir(dir string) (string, error) {
	if dir == "" {
		return stateDir()
	}
	return dir, nil
}

// stateDir is where the user's programs keep their state (XDG Base Directory).
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "beam"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home folder to keep data in (%w): name one with --data, or use --memory", err)
	}
	return filepath.Join(home, ".local", "state", "beam"), nil
}
