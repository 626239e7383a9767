package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// check is the command that tells whether a data folder or a backup is whole.
type check struct {
	File string `arg:"" optional:"" help:"A backup; - is stdin. Without it, the data folder is checked."`

	dataFolderFlags
}

// Help is what --help says beside the flags.
func (*check) Help() string {
	return "It changes nothing. A data folder is checked while no Beam owns it; while one does, check a backup instead: ${program} backup - | ${program} check -. " +
		"The exit status is 1 if something is damaged. What to do then: restore a backup, or start once with --accept-loss to go on with what can be read."
}

// Run checks.
func (c *check) Run(ctx context.Context, p *program) error {
	if c.File != "" {
		return c.archive(ctx, p)
	}
	dir, err := resolveDataDir(c.Data)
	if err != nil {
		return err
	}
	unlock, err := unowned(dir)
	if err != nil {
		return err
	}
	report, err := jetstream.Check(filepath.Join(dir, logFolder))
	if err := errors.Join(err, unlock()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s holds no log of Beam's", dir)
	} else if err != nil {
		return fmt.Errorf("the data folder can't be checked: %w", err)
	}
	if report.Damage != nil {
		tellLoss(p.stdout, report)
		return fmt.Errorf("%w: restore a backup, or go on with what can be read by starting once with --accept-loss", report.Damage)
	}
	if report.Torn > 0 {
		fmt.Fprintf(p.stdout, "A crash tore %s off the end of the log that were not recorded; the next start cuts them off.\n", plural(int(report.Torn), "byte", "bytes"))
	}
	fmt.Fprintf(p.stdout, "The log is whole: %s in %s.\n", plural(report.Runs, "run", "runs"), plural(report.Messages, "message", "messages"))
	return nil
}

// archive checks a backup.
func (c *check) archive(ctx context.Context, p *program) error {
	var in io.Reader = p.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("the backup can't be read: %w", err)
		}
		defer f.Close()
		in = f
	}
	sum, err := backup.Check(ctx, in)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "The backup is whole: %s, backed up %s.\n", describeSummary(sum), sum.CreatedAt.Local().Format("2006-01-02 15:04:05"))
	return nil
}

// unowned keeps a data folder from being owned until unlock is called. It makes
// no lock where there is none: nobody owned the folder since it was made.
func unowned(dir string) (unlock func() error, err error) {
	lock := newFolderLock(dir)
	if _, err := os.Stat(lock.Path()); errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	locked, err := lock.TryRLock()
	if err != nil {
		return nil, fmt.Errorf("the data folder can't be used: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("the data folder %s is in use by another Beam, which checked it when it started: end that, or check a backup", dir)
	}
	return lock.Unlock, nil
}

// tellLoss says which runs lose something if a loss is accepted.
func tellLoss(w io.Writer, r jetstream.Report) {
	fmt.Fprintf(w, "%s.\n", r.Kept())
	for _, run := range slices.Sorted(maps.Keys(r.Holed)) {
		fmt.Fprintf(w, "run %s: entry %d is missing\n", run, r.Holed[run])
	}
	for _, run := range r.Headless {
		fmt.Fprintf(w, "run %s: its beginning is missing\n", run)
	}
}
