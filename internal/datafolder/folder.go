// Package datafolder keeps what outlives a Beam process in a folder: the store with the runs and
// small state, the files of runs, and keys. It locks the folder, opens the store, migrates what
// earlier versions left, and checks, repairs, and restores it.
package datafolder

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/web/identity"
)

// A Folder is a folder for the data that outlives the process. One process
// owns it from the time it opens the folder until it closes it.
type Folder struct {
	*lockedFolder
	Temporary bool                  // it is removed when it is closed
	Socket    *controlsocket.Server // where other processes join; nil for a temporary folder

	database    *database          // has the runs instead of the folder; nil for none
	sharedKeys  *smallstate.Memory // of the session keys that a temporary folder shares with another; nil for none
	sharedSeals string             // the file that encrypts these
}

// Open opens the data folder dir, creating it if it doesn't exist. If dir is empty, it opens the
// user's own data folder. The error wraps [ErrInUse] if another process owns the folder.
func Open(dir string) (*Folder, error) {
	locked, err := lock(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{lockedFolder: locked}
	if err := f.checkRestored(); err != nil {
		return nil, errors.Join(err, f.unlock())
	}
	if f.Socket, err = controlsocket.Listen(f.Dir); err != nil {
		return nil, errors.Join(err, f.unlock())
	}
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, f.Socket.StopAccepting(), f.unlock())
	}
	return f, nil
}

// OpenFallback opens a temporary folder for a process that can't use the user's own. It shares
// the session keys of the user's own folder, if this version can read them, so that a browser
// that is signed in there is signed in here.
func OpenFallback(ctx context.Context) (*Folder, error) {
	f, err := OpenTemporary()
	if err != nil {
		return nil, err
	}
	dir, err := Resolve("")
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	shared, err := store.ReadState(ctx, dir, identity.Buckets()...)
	if err != nil {
		return f, nil
	}
	seals := filepath.Join(dir, sealFile)
	if found, err := (identity.KeyStore{State: shared, SealFile: seals}).Check(ctx); found && err == nil {
		f.sharedKeys, f.sharedSeals = shared, seals
	}
	return f, nil
}

// prepare opens the files of runs, and removes the partial files of processes that were killed.
func (f *Folder) prepare() error {
	if err := atomicfile.Sweep(f.Dir); err != nil {
		return folderError(err)
	}
	RemoveRedirects(f.Dir, 0)
	has, err := f.hasStore()
	if err == nil && !has && !f.Temporary {
		err = f.keyStore(nil).CreateSeal()
	}
	if err == nil {
		err = f.openBlobs()
	}
	if err == nil {
		err = f.Blobs.Sweep()
	}
	if err != nil {
		return folderError(err)
	}
	return nil
}

// Close closes the files in the folder and gives up its ownership.
func (f *Folder) Close() error {
	RemoveRedirects(f.Dir, 0)
	err := f.Blobs.Close()
	if f.Temporary {
		err = errors.Join(err, os.RemoveAll(f.Dir))
	} else {
		err = errors.Join(err, f.Socket.StopAccepting())
	}
	return errors.Join(err, f.lock.Unlock())
}

// KeyStore returns where the folder's session keys are, given its small state.
func (f *Folder) KeyStore(s smallstate.Store) identity.KeyStore {
	if f.database != nil {
		return identity.KeyStore{State: s, SealFile: f.database.keyFile}
	}
	if f.sharedKeys != nil {
		return identity.KeyStore{State: s, SealFile: f.sharedSeals}
	}
	return f.keyStore(s)
}
