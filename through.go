package beam

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/joint"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/web"
)

// located are the flags of commands that work on a data folder.
type located struct {
	Data string `default:"" placeholder:"DIR" type:"path" help:"The data folder. The default is the folder for programs' state in your home."`
}

// through does something with a data folder: owner has the process do it that
// owns the folder; if nobody does, own does it here, with the folder locked.
func (l *located) through(ctx context.Context, want string, args any, owner func(*joint.Conn) error, own func(*folder) error) error {
	dir, err := dataDir(l.Data)
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
		store, err := openFolder(dir)
		if err == nil {
			return errors.Join(own(store), store.close())
		}
		if !errors.Is(err, errInUse) {
			return err
		}
		conn, o, err := l.dial(ctx, dir, want, args)
		if err == nil {
			return serveBy(ctx, conn, owner)
		}
		var refused *joint.RefusedError
		ending := errors.Is(err, joint.ErrNobody) || errors.As(err, &refused) && refused.Reason == joint.Busy
		if !ending || time.Since(began) > unjoinable {
			return fmt.Errorf("%s owns the data folder %s, and can't do this: %w", described(o), dir, err)
		}
		if err := sleep(ctx, lookEach); err != nil {
			return err
		}
	}
}

// serveBy has a connection used until it is done with, or ctx ends.
func serveBy(ctx context.Context, conn *joint.Conn, use func(*joint.Conn) error) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := use(conn); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

func (l *located) dial(ctx context.Context, dir, want string, args any) (*joint.Conn, joint.Owner, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, unready, errors.New("it does not answer"))
	defer cancel()
	return joint.Dial(ctx, dir, want, args)
}

// withLog opens the log of a folder that this process owns, for something other
// than running photons.
func (f *folder) withLog(ctx context.Context, p *program, do func(log.Log) error) error {
	l, closeLog, err := f.openLog(ctx, false, quiet(p))
	if err != nil {
		return err
	}
	return errors.Join(do(l), closeLog())
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
