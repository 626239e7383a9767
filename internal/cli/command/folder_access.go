package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/upstream"
)

// DataFolderFlags are the flags of commands that work on a data folder.
type DataFolderFlags struct {
	Data string `default:"" placeholder:"DIR" type:"path" help:"The data folder. By default, beam in the state folder of your home folder."`
}

// How long a process looks for a Beam to join.
const (
	// JoinRefusedTimeout applies if the owner refuses everyone: it may be ending.
	JoinRefusedTimeout = 10 * time.Second
	// ownerStartTimeout applies if the owner doesn't answer: it may be starting, with
	// a long log to read.
	ownerStartTimeout = 50 * time.Second

	JoinPollInterval = 50 * time.Millisecond
)

// UseFolder works on a data folder. If another process owns the folder, UseFolder
// sends it the request and passes the connection to remote; if none does, it
// locks the folder and passes it to local.
func (f *DataFolderFlags) UseFolder(ctx context.Context, request string, args any, remote func(*controlsocket.Conn) error, local func(*datafolder.Folder) error) error {
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
		conn, owner, err := DialOwner(ctx, dir, request, args)
		if err == nil {
			return UseConn(ctx, conn, remote)
		}
		if !IsOwnerEnding(err) || time.Since(start) > JoinRefusedTimeout {
			return OwnerError(owner, dir, err)
		}
		if err := SleepContext(ctx, JoinPollInterval); err != nil {
			return err
		}
	}
}

// IsOwnerEnding reports whether an error of DialOwner means that the owner may be
// ending.
func IsOwnerEnding(err error) bool {
	var refused *controlsocket.RefusedError
	return errors.Is(err, controlsocket.ErrNoListener) || errors.As(err, &refused) && refused.Reason == controlsocket.Busy
}

func OwnerError(owner controlsocket.Owner, dir string, err error) error {
	return fmt.Errorf("%s owns the data folder %s, and can't do this: %w", DescribeOwner(owner), dir, err)
}

// UseConn calls use with a connection, which it closes afterward, or when ctx
// ends.
func UseConn(ctx context.Context, conn *controlsocket.Conn, use func(*controlsocket.Conn) error) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := use(conn); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

// DialOwner sends a request to the process that owns a data folder.
func DialOwner(ctx context.Context, dir, request string, args any) (*controlsocket.Conn, controlsocket.Owner, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ownerStartTimeout, errors.New("it does not answer"))
	defer cancel()
	return controlsocket.Dial(ctx, dir, request, args)
}

// SleepContext waits for d, or returns the cause of ctx's end if that comes
// first.
func SleepContext(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// RequestUpstreams returns what the Beam that owns a folder sees of its upstreams; nil if
// there is none.
func RequestUpstreams(ctx context.Context, dir string) []upstream.Status {
	conn, _, err := DialOwner(ctx, dir, app.RequestUpstream, app.UpstreamRequest{Action: app.UpstreamStatus})
	if err != nil {
		return nil
	}
	var reply app.UpstreamReply
	_ = UseConn(ctx, conn, func(conn *controlsocket.Conn) error { return json.NewDecoder(conn).Decode(&reply) })
	return reply.Status
}
