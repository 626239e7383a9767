// Package datacmd has the commands that look after a data folder.
package datacmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/humanize"
)

// Backup backs up a data folder, or a database, to one file.
type Backup struct {
	File    string `arg:"" help:"The file to write; - is stdout."`
	Replace bool   `env:"-" help:"Replace the file, if it exists, once the backup is complete."`

	command.DataFolderFlags
	command.StoreFlags
}

// Help returns what --help says besides the flags.
func (*Backup) Help() string {
	return "If another Beam owns the data folder, it writes the backup. Replicas that share a database go on, too. No run is stopped. In a folder or database that ${program} restore makes from the file, runs wait where they waited before. " +
		"The file contains everything in the folder, including the arguments of runs and the keys of secret answers and browser sessions. " +
		"Anyone who can read it can sign in as anyone and read the secrets of all runs that have not ended. It is created so that only you can read it; keep it that way.\n\n    ${program} backup monday.backup\n    ${program} backup - | ssh elsewhere dd of=monday.backup"
}

// Run writes the backup, and checks what it writes.
func (c *Backup) Run(ctx context.Context, p *command.Program) error {
	out, err := c.createOutput(p)
	if err != nil {
		return err
	}
	var sum backup.Summary
	receive := func(r io.Reader) (err error) {
		sum, err = backup.Check(ctx, io.TeeReader(r, out))
		return err
	}
	local := func(f *datafolder.Folder) error { return receiveBackup(ctx, p, f, receive) }
	if c.Store != "" {
		err = c.UseDatabase(local)
	} else {
		err = c.backUpFolder(ctx, receive, local)
	}
	if err := out.commitOrRemove(err); err != nil {
		return fmt.Errorf("no backup was written: %w", err)
	}
	fmt.Fprintf(out.messages, "backed up %s: keep the file private, since it contains the keys of their secrets\n", describeSummary(sum))
	return describeMissing(out.messages, sum)
}

// backUpFolder passes receive a backup of the data folder, by the process that owns it. If none
// does, it passes the folder to local.
func (c *Backup) backUpFolder(ctx context.Context, receive func(io.Reader) error, local func(*datafolder.Folder) error) error {
	return c.UseFolder(ctx, app.RequestBackup, nil,
		func(conn *controlsocket.Conn) error {
			err := receive(conn)
			if errors.Is(err, backup.ErrTruncated) {
				err = fmt.Errorf("%s, which owns the data folder, stopped in the middle; its log says why", command.DescribeOwner(conn.Owner))
			}
			return err
		}, local)
}

// receiveBackup passes receive a backup of a folder that this process owns.
func receiveBackup(ctx context.Context, p *command.Program, f *datafolder.Folder, receive func(io.Reader) error) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := app.Backup(ctx, f, w, command.NewWarningLogger(p))
		w.CloseWithError(err)
		written <- err
	}()
	err := errors.Join(receive(r), r.Close())
	if e := <-written; e != nil && !errors.Is(e, io.ErrClosedPipe) {
		return e
	}
	return err
}

// describeMissing prints what a backup lacks of runs, and returns an error if there is anything.
func describeMissing(w io.Writer, s backup.Summary) error {
	for _, run := range slices.Sorted(maps.Keys(s.Missing)) {
		fmt.Fprintf(w, "run %s: %s\n", run, cleantext.Line(s.Missing[run]))
	}
	if n := len(s.Missing); n > 0 {
		return fmt.Errorf("of %s, the backup lacks what is damaged", humanize.Count(n, "run"))
	}
	return nil
}

// describeSummary describes the contents of a backup.
func describeSummary(s backup.Summary) string {
	return fmt.Sprintf("%s (%s) and %s", humanize.Count(s.Runs, "run"), countEntries(s.Entries), humanize.Count(s.Blobs, "file"))
}
