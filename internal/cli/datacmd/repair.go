package datacmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/humanize"
)

// Repair copies what can be read of a damaged data folder.
type Repair struct {
	Yes bool `env:"-" help:"Repair the folder. Otherwise, only say what would be lost."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*Repair) Help() string {
	return "If there is a recent backup, restoring it is better. Without --yes, nothing changes. " +
		"A run of which something is missing is kept up to there, and ends as failed. If the last transactions are lost, so do the runs that would go on by themselves, since they would repeat what they have done; " +
		"questions that had been answered may be open again. What is damaged is moved to a folder of its own, and never deleted. The exit status is 1 if something is damaged and --yes isn't there.\n\n    ${program} repair\n    ${program} repair --yes"
}

// Run repairs, and prints what is lost.
func (c *Repair) Run(ctx context.Context, p *command.Program) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	report, err := datafolder.Repair(ctx, dir, c.Yes, command.NewProgressLogger(p), p.CopyProgress())
	switch {
	case err != nil:
		return explainFolderError("repaired", dir, err)
	case report.Intact:
		fmt.Fprintf(p.Stdout, "Nothing is damaged: %s, %s.\n", humanize.Count(report.Runs, "run"), countEntries(report.Entries))
		return nil
	}
	c.print(p, report)
	if !c.Yes {
		return errors.New("nothing has changed: restore a backup, or repair the folder with --yes")
	}
	fmt.Fprintf(p.Stdout, "The data folder is repaired: %s, %s.\n", humanize.Count(report.Runs, "run"), countEntries(report.Entries))
	if report.Aside != "" {
		fmt.Fprintf(p.Stdout, "What was damaged is in %s.\n", filepath.Join(dir, report.Aside))
	}
	return nil
}

// print prints what is lost, and which runs end.
func (c *Repair) print(p *command.Program, r datafolder.RepairReport) {
	verb := "would be"
	if c.Yes {
		verb = "is"
	}
	if len(r.Problems) == 0 && len(r.Damaged) == 0 {
		fmt.Fprintf(p.Stdout, "Nothing %s lost: only lists and counts are damaged, and they can be made again.\n", verb)
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(p.Stdout, cleantext.Line(problem))
	}
	for _, run := range slices.Sorted(maps.Keys(r.Damaged)) {
		fmt.Fprintf(p.Stdout, "run %s: %s\n", cleantext.Line(run), cleantext.Line(r.Damaged[run]))
	}
	for _, run := range r.Ended {
		fmt.Fprintf(p.Stdout, "run %s %s ended as failed\n", cleantext.Line(run), verb)
	}
	if !c.Yes {
		fmt.Fprintf(p.Stdout, "Kept would be %s with %s.\n", humanize.Count(r.Runs, "run"), countEntries(r.Entries))
	}
}

// Migrate copies the runs of an earlier version.
type Migrate struct {
	Undo bool `env:"-" help:"Make the folder one of the earlier version again, unless something was recorded since."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*Migrate) Help() string {
	return "The first start of this version does that by itself. The folder log with the runs of the earlier version stays as it is, but for a note that makes earlier versions refuse it. " +
		"Once you don't want to go back any more, delete it.\n\n    ${program} migrate\n    ${program} migrate --undo"
}

// Run migrates, or undoes that.
func (c *Migrate) Run(ctx context.Context, p *command.Program) error {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return err
	}
	if !c.Undo {
		if err := datafolder.Migrate(ctx, dir, command.NewProgressLogger(p), p.CopyProgress()); err != nil {
			return explainFolderError("migrated", dir, err)
		}
		fmt.Fprintln(p.Stdout, "The runs in the data folder are those of this version.")
		return nil
	}
	if err := datafolder.UndoMigration(ctx, dir); err != nil {
		return explainFolderError("made one of the earlier version", dir, err)
	}
	fmt.Fprintln(p.Stdout, "The data folder is one of the earlier version again. The next start of this version copies its runs again.")
	return nil
}

// explainFolderError returns why something could not be done with a data folder.
func explainFolderError(done, dir string, err error) error {
	switch {
	case errors.Is(err, datafolder.ErrInUse):
		return fmt.Errorf("the data folder %s is in use by another Beam: stop that one", dir)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s contains no runs", dir)
	}
	return fmt.Errorf("the data folder can't be %s: %w", done, err)
}
