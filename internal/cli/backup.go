package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/humanize"
)

// backupCommand writes what a data folder holds to one file.
type backupCommand struct {
	File string `arg:"" help:"The file to write; - is stdout. A file that exists is replaced once the backup is complete."`

	dataFolderFlags
}

// Help returns what --help says besides the flags.
func (*backupCommand) Help() string {
	return "If another Beam owns the data folder, that one writes the backup; no run is stopped. In a folder that ${program} restore makes of the file, runs wait where they waited. " +
		"The file holds everything that the folder holds: the arguments of runs, and the keys to secret answers and to browser sessions. " +
		"Anyone who can read it can sign in as anybody and read every secret of a run that has not ended. Only you can read the file; keep it so."
}

// Run writes the backup, and checks what it writes.
func (c *backupCommand) Run(ctx context.Context, p *program) error {
	out, err := c.createOutput(p)
	if err != nil {
		return err
	}
	var sum backup.Summary
	receive := func(r io.Reader) (err error) {
		sum, err = backup.Check(ctx, io.TeeReader(r, out))
		return err
	}
	err = c.useFolder(ctx, app.RequestBackup, nil,
		func(conn *controlsocket.Conn) error {
			err := receive(conn)
			if errors.Is(err, backup.ErrTruncated) {
				err = fmt.Errorf("%s, which owns the data folder, stopped in the middle; its log says why", describeOwner(conn.Owner))
			}
			return err
		},
		func(f *app.DataFolder) error { return receiveBackup(ctx, p, f, receive) })
	if err := out.commitOrRemove(err); err != nil {
		return fmt.Errorf("no backup was written: %w", err)
	}
	fmt.Fprintf(out.messages, "backed up %s: keep the file private, it holds the keys to their secrets\n", describeSummary(sum))
	return nil
}

// receiveBackup passes receive a backup of a folder that this process owns.
func receiveBackup(ctx context.Context, p *program, f *app.DataFolder, receive func(io.Reader) error) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := f.Backup(ctx, w, newWarningLogger(p))
		w.CloseWithError(err)
		written <- err
	}()
	err := errors.Join(receive(r), r.Close())
	if e := <-written; e != nil && !errors.Is(e, io.ErrClosedPipe) {
		return e
	}
	return err
}

// describeSummary says what a backup holds.
func describeSummary(s backup.Summary) string {
	entries := humanize.Thousands(s.Entries) + " " + humanize.Plural(s.Entries, "entry", "entries")
	return fmt.Sprintf("%s (%s) and %s", humanize.Count(s.Runs, "run"), entries, humanize.Count(s.Blobs, "file"))
}
