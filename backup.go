package beam

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

	"github.com/photon-beam/beam/internal/archive"
	"github.com/photon-beam/beam/internal/joint"
	"github.com/photon-beam/beam/internal/lasting"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/web"
)

// backup is the command that writes what a data folder holds to one file.
type backup struct {
	File string `arg:"" help:"The file; - is stdout. What it held before stays until the backup is there."`

	located
}

// Help is what --help says beside the flags.
func (*backup) Help() string {
	return "It works while a Beam owns the data folder, through it, and stops no run: ${program} restore makes a folder of the file in which runs wait where they waited. " +
		"The file holds everything that the folder does: what runs were told, and the keys to secret answers and to the sessions of browsers. " +
		"Whoever can read it can sign in as anybody and read every secret of a run that has not ended: it is made readable by you alone; keep it so."
}

// Run writes the backup, and reads along whether it is whole.
func (c *backup) Run(ctx context.Context, p *program) error {
	to, err := c.output(p)
	if err != nil {
		return err
	}
	var sum archive.Summary
	receive := func(r io.Reader) (err error) {
		sum, err = archive.Check(ctx, io.TeeReader(r, to))
		return err
	}
	err = c.through(ctx, wantBackup, nil,
		func(conn *joint.Conn) error {
			err := receive(conn)
			if errors.Is(err, archive.ErrCut) {
				err = fmt.Errorf("%s, which owns the data folder, broke off; its log says why", described(conn.Owner))
			}
			return err
		},
		func(f *folder) error {
			return f.withLog(ctx, p, func(l log.Log) error {
				r, w := io.Pipe()
				go func() { w.CloseWithError(archive.Write(ctx, w, f.parts(l), version())) }()
				return errors.Join(receive(r), r.Close())
			})
		})
	if err := to.finish(err); err != nil {
		return fmt.Errorf("there is no backup: %w", err)
	}
	fmt.Fprintf(to.report, "backed up %s: keep it to yourself, it holds the keys to their secrets\n", summed(sum))
	return nil
}

// summed says what an archive holds.
func summed(s archive.Summary) string {
	return fmt.Sprintf("%s (%s) and %s", plural(s.Runs, "run", "runs"), plural(s.Entries, "entry", "entries"), plural(s.Blobs, "file", "files"))
}

// parts are what a backup is of.
func (f *folder) parts(l log.Log) archive.Parts {
	return archive.Parts{Log: l, Blobs: f.blobs, Keys: filepath.Join(f.dir, keyFolder), SessionKeys: filepath.Join(f.dir, web.KeysFile)}
}

// An output is where a backup is written to.
type output struct {
	io.Writer
	report io.Writer // what people are told
	file   *os.File  // nil for stdout
	lock   *flock.Flock
	name   string
}

// output begins a file beside the one that was named, which takes its place at
// the end.
func (c *backup) output(p *program) (*output, error) {
	if c.File == "-" {
		if f, ok := p.stdout.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
			return nil, misusef("a backup is no text, and stdout is a terminal: name a file")
		}
		return &output{Writer: p.stdout, report: p.stderr}, nil
	}
	if err := c.aside(); err != nil {
		return nil, err
	}
	sweepPartial(c.File)
	f, err := os.CreateTemp(filepath.Dir(c.File), filepath.Base(c.File)+lasting.Partial+"*") // its mode is 0600
	if err != nil {
		return nil, fmt.Errorf("the backup can't be written: %w", err)
	}
	lock := flock.New(f.Name())
	if _, err := lock.TryLock(); err != nil {
		return nil, errors.Join(fmt.Errorf("the backup can't be written: %w", err), f.Close(), os.Remove(f.Name()))
	}
	return &output{Writer: f, report: p.stdout, file: f, lock: lock, name: c.File}, nil
}

// sweepPartial removes what was written for a backup by those who were killed:
// nobody has it locked. Another one may be writing to the same file.
func sweepPartial(file string) {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return // then nothing can be made there, either, and that is said
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), filepath.Base(file)+lasting.Partial) {
			continue
		}
		lock := flock.New(filepath.Join(filepath.Dir(file), e.Name()))
		if gone, err := lock.TryLock(); err == nil && gone {
			os.Remove(lock.Path())
			lock.Unlock()
		}
	}
}

// aside finds the file that the backup is to become: what a symbolic link leads
// to, and nothing that is no file.
func (c *backup) aside() error {
	if real, err := filepath.EvalSymlinks(c.File); err == nil {
		c.File = real
	}
	switch info, err := os.Stat(c.File); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the backup can't be written: %w", err)
	case !info.Mode().IsRegular():
		return misusef("%s is no file: name one, or - for stdout", c.File)
	}
	return nil
}

// finish puts a whole file in its place, and removes any other.
func (o *output) finish(err error) error {
	if o.file == nil {
		return err
	}
	if err == nil {
		err = o.file.Sync()
	}
	err = errors.Join(err, o.file.Close())
	if err == nil {
		err = os.Rename(o.file.Name(), o.name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(o.file.Name()))
	} else {
		err = lasting.SyncFolder(filepath.Dir(o.name))
	}
	return errors.Join(err, o.lock.Unlock())
}

// stalled is how long a joiner may take nothing of a backup.
const stalled = time.Minute

// backup writes one for a process that joined.
func (h *host) backup(ctx context.Context, r *joint.Request) {
	release := h.engine.Hold()
	defer release()
	if r.Accept() != nil {
		return
	}
	if err := archive.Write(ctx, patient{r}, h.store.parts(h.log), version()); err != nil {
		h.logger.Error("writing a backup", "err", err)
	}
}

// A patient writer waits for its joiner, and not for ever.
type patient struct{ r *joint.Request }

func (p patient) Write(b []byte) (int, error) {
	if err := p.r.SetWriteDeadline(time.Now().Add(stalled)); err != nil {
		return 0, err
	}
	return p.r.Write(b)
}
