package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
)

// dataFolderFlags are the flags of commands that work on a data folder.
type dataFolderFlags struct {
	Data string `default:"" placeholder:"DIR" type:"path" help:"The data folder. By default, beam in the state folder of your home folder."`
}

// useFolder works on a data folder. If another process owns the folder, useFolder
// sends it the request and passes the connection to remote; if none does, it
// locks the folder and passes it to local.
func (f *dataFolderFlags) useFolder(ctx context.Context, request string, args any, remote func(*controlsocket.Conn) error, local func(*datafolder.Folder) error) error {
	dir, err := datafolder.Resolve(f.Data)
	if err != nil {
		return err
	}
	if err := datafolder.Require(dir); err != nil {
		return err
	}
	for start := time.Now(); ; {
		folder, err := datafolder.Open(dir)
		if err == nil {
			return errors.Join(local(folder), folder.Close())
		}
		if !errors.Is(err, datafolder.ErrInUse) {
			return err
		}
		conn, owner, err := dialOwner(ctx, dir, request, args)
		if err == nil {
			return useConn(ctx, conn, remote)
		}
		if !isOwnerEnding(err) || time.Since(start) > joinRefusedTimeout {
			return ownerError(owner, dir, err)
		}
		if err := sleepContext(ctx, joinPollInterval); err != nil {
			return err
		}
	}
}

// isOwnerEnding reports whether an error of dialOwner means that the owner may be
// ending.
func isOwnerEnding(err error) bool {
	var refused *controlsocket.RefusedError
	return errors.Is(err, controlsocket.ErrNoListener) || errors.As(err, &refused) && refused.Reason == controlsocket.Busy
}

func ownerError(owner controlsocket.Owner, dir string, err error) error {
	return fmt.Errorf("%s owns the data folder %s, and can't do this: %w", describeOwner(owner), dir, err)
}

// useConn calls use with a connection, which it closes afterward, or when ctx
// ends.
func useConn(ctx context.Context, conn *controlsocket.Conn, use func(*controlsocket.Conn) error) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := use(conn); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

// dialOwner sends a request to the process that owns a data folder.
func dialOwner(ctx context.Context, dir, request string, args any) (*controlsocket.Conn, controlsocket.Owner, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ownerStartTimeout, errors.New("it does not answer"))
	defer cancel()
	return controlsocket.Dial(ctx, dir, request, args)
}

// sleepContext waits for d, or returns the cause of ctx's end if that comes
// first.
func sleepContext(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
