package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/mattn/go-isatty"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web"
)

// backupCommand is the command that writes what a data folder holds to one file.
type backupCommand struct {
	File string `arg:"" help:"The file; - is stdout. What it held before stays until the backup is there."`

	dataFolderFlags
}

// Help is what --help says beside the flags.
func (*backupCommand) Help() string {
	return "It works while a Beam owns the data folder, through it, and stops no run: ${program} restore makes a folder of the file in which runs wait where they waited. " +
		"The file holds everything that the folder does: what runs were told, and the keys to secret answers and to the sessions of browsers. " +
		"Whoever can read it can sign in as anybody and read every secret of a run that has not ended: it is made readable by you alone; keep it so."
}

// Run writes the backup, and reads along whether it is whole.
func (c *backupCommand) Run(ctx context.Context, p *program) error {
	to, err := c.createOutput(p)
	if err != nil {
		return err
	}
	var sum backup.Summary
	receive := func(r io.Reader) (err error) {
		sum, err = backup.Check(ctx, io.TeeReader(r, to))
		return err
	}
	err = c.useFolder(ctx, requestBackup, nil,
		func(conn *controlsocket.Conn) error {
			err := receive(conn)
			if errors.Is(err, backup.ErrTruncated) {
				err = fmt.Errorf("%s, which owns the data folder, broke off; its log says why", describeOwner(conn.Owner))
			}
			return err
		},
		func(f *dataFolder) error {
			return f.withLog(ctx, p, func(l runlog.Log) error {
				r, w := io.Pipe()
				go func() { w.CloseWithError(backup.Write(ctx, w, f.backupParts(l), version())) }()
				return errors.Join(receive(r), r.Close())
			})
		})
	if err := to.commitOrRemove(err); err != nil {
		return fmt.Errorf("there is no backup: %w", err)
	}
	fmt.Fprintf(to.messages, "backed up %s: keep it to yourself, it holds the keys to their secrets\n", describeSummary(sum))
	return nil
}

// describeSummary says what an archive holds.
func describeSummary(s backup.Summary) string {
	return fmt.Sprintf("%s (%s) and %s", plural(s.Runs, "run", "runs"), plural(s.Entries, "entry", "entries"), plural(s.Blobs, "file", "files"))
}

// backupParts are what a backup is of.
func (f *dataFolder) backupParts(l runlog.Log) backup.Parts {
	return backup.Parts{Log: l, Blobs: f.blobs, KeyDir: filepath.Join(f.dir, secretKeysFolder), SessionKeyFile: filepath.Join(f.dir, web.KeysFile)}
}

// A backupOutput is where a backup is written to.
type backupOutput struct {
	io.Writer
	messages io.Writer // what people are told
	file     *os.File  // nil for stdout
	lock     *flock.Flock
	path     string
}

// createOutput begins a file beside the one that was named, which takes its place at
// the end.
func (c *backupCommand) createOutput(p *program) (*backupOutput, error) {
	if c.File == "-" {
		if f, ok := p.stdout.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
			return nil, usageErrorf("a backup is no text, and stdout is a terminal: name a file")
		}
		return &backupOutput{Writer: p.stdout, messages: p.stderr}, nil
	}
	if err := c.resolveFile(); err != nil {
		return nil, err
	}
	sweepPartial(c.File)
	f, err := os.CreateTemp(filepath.Dir(c.File), filepath.Base(c.File)+atomicfile.Partial+"*") // its mode is 0600
	if err != nil {
		return nil, fmt.Errorf("the backup can't be written: %w", err)
	}
	lock := flock.New(f.Name())
	if _, err := lock.TryLock(); err != nil {
		return nil, errors.Join(fmt.Errorf("the backup can't be written: %w", err), f.Close(), os.Remove(f.Name()))
	}
	return &backupOutput{Writer: f, messages: p.stdout, file: f, lock: lock, path: c.File}, nil
}

// sweepPartial removes what was written for a backup by those who were killed:
// nobody has it locked. Another one may be writing to the same file.
func sweepPartial(file string) {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return // then nothing can be made there, either, and that is said
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), filepath.Base(file)+atomicfile.Partial) {
			continue
		}
		lock := flock.New(filepath.Join(filepath.Dir(file), e.Name()))
		if gone, err := lock.TryLock(); err == nil && gone {
			os.Remove(lock.Path())
			lock.Unlock()
		}
	}
}

// resolveFile finds the file that the backup is to become: what a symbolic link leads
// to, and nothing that is no file.
func (c *backupCommand) resolveFile() error {
	if real, err := filepath.EvalSymlinks(c.File); err == nil {
		c.File = real
	}
	switch info, err := os.Stat(c.File); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the backup can't be written: %w", err)
	case !info.Mode().IsRegular():
		return usageErrorf("%s is no file: name one, or - for stdout", c.File)
	}
	return nil
}

// commitOrRemove puts a whole file in its place, and removes any other.
func (o *backupOutput) commitOrRemove(err error) error {
	if o.file == nil {
		return err
	}
	if err == nil {
		err = o.file.Sync()
	}
	err = errors.Join(err, o.file.Close())
	if err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(o.file.Name()))
	} else {
		err = atomicfile.SyncDir(filepath.Dir(o.path))
	}
	return errors.Join(err, o.lock.Unlock())
}

// backupStallTimeout is how long a joiner may take nothing of a backup.
const backupStallTimeout = time.Minute

// handleBackup writes one for a process that joined.
func (h *controlServer) handleBackup(ctx context.Context, r *controlsocket.Request) {
	release := h.engine.PauseDeletion()
	defer release()
	if r.Accept() != nil {
		return
	}
	if err := backup.Write(ctx, stallWriter{r}, h.folder.backupParts(h.log), version()); err != nil {
		h.logger.Error("writing a backup", "err", err)
	}
}

// A stallWriter writer waits for its joiner, and not for ever.
type stallWriter struct{ request *controlsocket.Request }

func (p stallWriter) Write(b []byte) (int, error) {
	if err := p.request.SetWriteDeadline(time.Now().Add(backupStallTimeout)); err != nil {
		return 0, err
	}
	return p.request.Write(b)
}
