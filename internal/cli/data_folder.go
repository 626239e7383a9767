package cli

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

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
	"github.com/photon-beam/beam/web"
)

// dataFolder is where Beam keeps what outlives a request. One process owns it.
type dataFolder struct {
	dir         string
	temporary   bool
	lock        *flock.Flock
	socket      *controlsocket.Server // where others join; nil for a temporary folder
	sessionKeys web.Keys
	blobs       *blob.Store
}

// What the folder holds, besides the keys of sessions.
const (
	blobFolder       = "blobs" // what is too large for the log
	logFolder        = "log"
	secretKeysFolder = "keys" // of secret answers, a file a run
)

// openDataFolder takes a folder into use, making it if need be; an empty dir is the
// user's own folder for programs' state.
func openDataFolder(dir string) (*dataFolder, error) {
	f, err := lockDataFolder(dir)
	if err != nil {
		return nil, err
	}
	if err := f.checkRestored(); err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	if f.socket, err = controlsocket.Listen(f.dir); err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	return f.openOrRelease()
}

// lockDataFolder makes this process the owner of a folder. The error is errInUse if
// another is.
func lockDataFolder(dir string) (*dataFolder, error) {
	dir, err := resolveDataDir(dir)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("the data folder can't be made: %w", err)
	}
	if err := ensurePrivate(dir); err != nil {
		return nil, err
	}
	f := &dataFolder{dir: dir, lock: newFolderLock(dir)}
	locked, err := f.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("the data folder can't be used: %w", err)
	}
	if !locked {
		return nil, errFolderInUse
	}
	return f, nil
}

var errFolderInUse = errors.New("the data folder is in use by another Beam")

// openFallbackFolder is a temporary folder beside the user's own, which another Beam
// has in use. Its browser sessions are the same: who signed in there is signed
// in here.
func openFallbackFolder() (*dataFolder, error) {
	f, err := openTemporaryFolder()
	if err != nil {
		return nil, err
	}
	dir, err := defaultDataDir()
	if err == nil {
		f.sessionKeys, err = web.LoadKeys(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// ensurePrivate sees to it that nobody else can enter the folder: who can write there
// can replace the keys of all sessions. It changes no folder that has other
// things in it.
func ensurePrivate(dir string) error {
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

// openOrRelease opens what the folder holds, or lets it go again.
func (f *dataFolder) openOrRelease() (*dataFolder, error) {
	err := f.openStores()
	switch {
	case err == nil:
		return f, nil
	case f.temporary:
		return nil, errors.Join(err, os.RemoveAll(f.dir), f.lock.Unlock())
	default:
		return nil, errors.Join(err, f.socket.StopAccepting(), f.lock.Unlock())
	}
}

// openStores opens what the folder holds, without what those who were killed left.
func (f *dataFolder) openStores() (err error) {
	if err := atomicfile.Sweep(f.dir); err != nil {
		return fmt.Errorf("the data folder can't be used: %w", err)
	}
	if f.sessionKeys, err = web.LoadKeys(f.dir); err != nil {
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
func (f *dataFolder) openLog(ctx context.Context, syncAlways bool, logger *slog.Logger) (runlog.Log, func() error, error) {
	if f.temporary {
		return runlog.NewMemory(), func() error { return nil }, nil
	}
	l, err := jetstream.Open(ctx, jetstream.Options{Dir: filepath.Join(f.dir, logFolder), SyncAlways: syncAlways, Logger: logger})
	if err != nil {
		return nil, nil, fmt.Errorf("the log in the data folder can't be opened: %w", err)
	}
	return l, l.Close, nil
}

// close lets the folder go.
func (f *dataFolder) close() error {
	err := f.blobs.Close()
	if f.temporary {
		return errors.Join(err, os.RemoveAll(f.dir), f.lock.Unlock())
	}
	return errors.Join(err, f.socket.StopAccepting(), f.lock.Unlock())
}

// resolveDataDir is the folder that --data names: the user's own if it names none.
func resolveDataDir(dir string) (string, error) {
	if dir == "" {
		return defaultDataDir()
	}
	return dir, nil
}

// defaultDataDir is where the user's programs keep their state (XDG Base Directory).
func defaultDataDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "beam"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home folder to keep data in (%w): name one with --data, or use --memory", err)
	}
	return filepath.Join(home, ".local", "state", "beam"), nil
}
