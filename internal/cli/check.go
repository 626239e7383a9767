package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// checkCommand checks a data folder or a backup for damage.
type checkCommand struct {
	File string `arg:"" optional:"" help:"A backup to check; - is stdin. Without it, the data folder is checked."`

	dataFolderFlags
}

// Help returns what --help says besides the flags.
func (*checkCommand) Help() string {
	return "The command changes nothing. A data folder can't be checked while a Beam owns it; check a backup instead. " +
		"The exit status is 1 if something is damaged. In that case, restore a backup, or start Beam once with --accept-loss to continue with what can be read.\n\n    ${program} check monday.backup\n    ${program} backup - | ${program} check -"
}

// Run checks, and prints what it found.
func (c *checkCommand) Run(ctx context.Context, p *program) error {
	if c.File != "" {
		return c.checkBackup(ctx, p)
	}
	return c.checkFolder(p)
}

func (c *checkCommand) checkFolder(p *program) error {
	dir, err := app.ResolveDataDir(c.Data)
	if err != nil {
		return err
	}
	report, err := app.CheckLog(dir)
	switch {
	case errors.Is(err, app.ErrFolderInUse):
		return fmt.Errorf("the data folder %s is in use by another Beam, which checked it when it started: stop that one, or check a backup", dir)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s contains no Beam log", dir)
	case err != nil:
		return fmt.Errorf("the data folder can't be checked: %w", err)
	}
	if report.Damage != nil {
		printLoss(p.stdout, report)
		return fmt.Errorf("%w: restore a backup, or start once with --accept-loss to continue with what can be read", report.Damage)
	}
	if report.TornBytes > 0 {
		fmt.Fprintf(p.stdout, "A crash left %s of an incomplete entry at the end of the log; the next start removes it.\n", humanize.Count(int(report.TornBytes), "byte"))
	}
	fmt.Fprintf(p.stdout, "The log is intact: %s in %s.\n", humanize.Count(report.Runs, "run"), humanize.Count(report.Messages, "message"))
	return nil
}

func (c *checkCommand) checkBackup(ctx context.Context, p *program) error {
	in, err := p.openBackup(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	sum, err := backup.Check(ctx, in)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "The backup is intact: %s, backed up %s.\n", describeSummary(sum), formatBackupTime(sum))
	return nil
}

// printLoss prints what is lost if a damaged log is recovered.
func printLoss(w io.Writer, r jetstream.Report) {
	fmt.Fprintf(w, "%s.\n", r.Summary())
	for _, run := range slices.Sorted(maps.Keys(r.Truncated)) {
		fmt.Fprintf(w, "run %s: entry %d is missing\n", run, r.Truncated[run])
	}
	for _, run := range r.Headless {
		fmt.Fprintf(w, "run %s: its beginning is missing\n", run)
	}
}
