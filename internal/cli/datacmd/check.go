package datacmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// Check checks a data folder, a database, or a backup for damage.
type Check struct {
	File string `arg:"" optional:"" help:"A backup to check; - is stdin. Without it, the data folder is checked."`

	command.DataFolderFlags
	command.StoreFlags
}

// Help returns what --help says besides the flags.
func (*Check) Help() string {
	return "It changes no run. A data folder can't be checked while a Beam owns it; check a backup instead. A database can, while replicas use it. " +
		"The exit status is 1 if something is damaged. In that case, restore a backup, or let ${program} repair copy what can be read.\n\n    ${program} check monday.backup\n    ${program} backup - | ${program} check -"
}

// Run checks, and prints what it found.
func (c *Check) Run(ctx context.Context, p *command.Program) error {
	if c.File != "" {
		return c.checkBackup(ctx, p)
	}
	if c.Store != "" {
		return c.checkDatabase(ctx, p)
	}
	return c.checkFolder(ctx, p)
}

func (c *Check) checkDatabase(ctx context.Context, p *command.Program) error {
	return c.UseDatabase(func(f *datafolder.Folder) error {
		report, err := f.CheckDatabase(ctx, command.NewWarningLogger(p))
		if err != nil {
			return fmt.Errorf("the database can't be checked: %w", err)
		}
		return printReport(p, report, "database", "restore a backup to an empty one", "restore a backup to an empty database")
	})
}

func (c *Check) checkFolder(ctx context.Context, p *command.Program) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	report, err := datafolder.Check(ctx, dir)
	switch {
	case errors.Is(err, datafolder.ErrInUse):
		return fmt.Errorf("%w: %s: stop that one, or check a backup", err, dir)
	case errors.Is(err, runlog.ErrCorrupt):
		return fmt.Errorf("%w: restore a backup, or let %s repair copy what can be read", err, p.Command)
	case err != nil:
		return explainFolderError("checked", dir, err)
	}
	return printReport(p, report, "data folder", fmt.Sprintf("restore a backup, or let %s repair copy what can be read", p.Command), "mount the volume that has them, or restore a backup")
}

// printReport prints what was found in a place. Its error says how to mend what is damaged, or which
// files are missing.
func printReport(p *command.Program, report datafolder.Report, place, mend, mendFiles string) error {
	if !report.Whole() {
		printDamage(p.Stdout, report)
		return fmt.Errorf("%s: %s", describeDamage(report, place), mend)
	}
	if len(report.MissingFiles) > 0 {
		for _, run := range slices.Sorted(maps.Keys(report.MissingFiles)) {
			missing := report.MissingFiles[run]
			fmt.Fprintf(p.Stdout, "run %s: %s missing: %s\n", run, humanize.Plural(len(missing), "a file is", "files are"), strings.Join(missing, ", "))
		}
		return errors.New(describeMissingFiles(report) + ": " + mendFiles + "; the rest of the runs is intact")
	}
	where := ""
	if report.Unmigrated {
		where = " of an earlier version, which the next start copies"
	}
	fmt.Fprintf(p.Stdout, "The %s is intact: %s%s, %s and %s.\n", place, humanize.Count(report.Runs, "run"), where, countEntries(report.Entries), humanize.Count(report.Files, "file"))
	return nil
}

func (c *Check) checkBackup(ctx context.Context, p *command.Program) error {
	in, err := openBackup(p, c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	sum, err := backup.Check(ctx, in)
	if err != nil {
		return err
	}
	if err := describeMissing(p.Stdout, sum); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "The backup is intact: %s, backed up %s.\n", describeSummary(sum), formatBackupTime(sum))
	return nil
}

// describeDamage says in a few words what is damaged.
func describeDamage(r datafolder.Report, place string) string {
	if len(r.Problems) > 0 {
		return "the " + place + " is damaged"
	}
	return humanize.Count(len(r.Damaged), "run") + " of " + humanize.Thousands(r.Runs) + " " + humanize.Plural(len(r.Damaged), "is", "are") + " damaged"
}

// describeMissingFiles says in a few words that files are missing.
func describeMissingFiles(r datafolder.Report) string {
	n := len(r.MissingFiles)
	return humanize.Count(n, "run") + " of " + humanize.Thousands(r.Runs) + " " + humanize.Plural(n, "lacks", "lack") + " files"
}

// printDamage prints what is damaged.
func printDamage(w io.Writer, r datafolder.Report) {
	for _, problem := range r.Problems {
		fmt.Fprintln(w, cleantext.Line(problem))
	}
	for _, run := range slices.Sorted(maps.Keys(r.Damaged)) {
		fmt.Fprintf(w, "run %s: %s\n", run, cleantext.Line(r.Damaged[run]))
	}
}

// countEntries returns a number of entries, for people.
func countEntries(n int) string {
	return humanize.Thousands(n) + " " + humanize.Plural(n, "entry", "entries")
}
