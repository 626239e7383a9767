package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web"
)

// dataFolderFlags are the flags of commands that work on a data folder.
type dataFolderFlags struct {
	Data string `default:"" placeholder:"DIR" type:"path" help:"The data folder. The default is the folder for programs' state in your home."`
}

// useFolder does something with a data folder: owner has the process do it that
// owns the folder; if nobody does, own does it here, with the folder locked.
func (l *dataFolderFlags) useFolder(ctx context.Context, want string, args any, owner func(*controlsocket.Conn) error, own func(*dataFolder) error) error {
	dir, err := resolveDataDir(l.Data)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, web.KeysFile)); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the data folder can't be used: %w", err)
		}
		return fmt.Errorf("%s is no data folder of Beam's", dir)
	}
	for began := time.Now(); ; {
		store, err := openDataFolder(dir)
		if err == nil {
			return errors.Join(own(store), store.close())
		}
		if !errors.Is(err, errFolderInUse) {
			return err
		}
		conn, o, err := l.dialOwner(ctx, dir, want, args)
		if err == nil {
			return useConn(ctx, conn, owner)
		}
		var refused *controlsocket.RefusedError
		ending := errors.Is(err, controlsocket.ErrNoListener) || errors.As(err, &refused) && refused.Reason == controlsocket.Busy
		if !ending || time.Since(began) > joinRefusedTimeout {
			return fmt.Errorf("%s owns the data folder %s, and can't do this: %w", describeOwner(o), dir, err)
		}
		if err := sleepContext(ctx, joinPollInterval); err != nil {
			return err
		}
	}
}

// useConn has a connection used until it is done with, or ctx ends.
func useConn(ctx context.Context, conn *controlsocket.Conn, use func(*controlsocket.Conn) error) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := use(conn); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

func (l *dataFolderFlags) dialOwner(ctx context.Context, dir, want string, args any) (*controlsocket.Conn, controlsocket.Owner, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ownerStartTimeout, errors.New("it does not answer"))
	defer cancel()
	return controlsocket.Dial(ctx, dir, want, args)
}

// withLog opens the log of a folder that this process owns, for something other
// than running photons.
func (f *dataFolder) withLog(ctx context.Context, p *program, do func(runlog.Log) error) error {
	l, closeLog, err := f.openLog(ctx, false, newWarningLogger(p))
	if err != nil {
		return err
	}
	return errors.Join(do(l), closeLog())
}

// sleepContext waits, unless ctx ends first.
func sleepContext(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
