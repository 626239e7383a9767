package datacmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/datafolder"
)

// Restore creates a data folder, or fills a database, from a backup.
type Restore struct {
	File    string `arg:"" help:"The backup to read; - is stdin."`
	Data    string `placeholder:"DIR" type:"path" help:"The folder to restore to. It must be empty or not exist."`
	Partial bool   `env:"-" help:"Of a damaged backup, restore what comes before the damage. Runs that would go on by themselves end as failed."`

	command.StoreFlags
}

// Help returns what --help says besides the flags.
func (*Restore) Help() string {
	return "The backup is checked as it is read. It restores to a folder or, with --store, to an empty database, wherever it was made. If the restore is interrupted, no Beam uses what it left. " +
		"Let only one Beam continue the runs of a backup: if you restore it twice, both continue the same runs and repeat each other's work.\n\n    ${program} restore monday.backup --data restored\n    ${program} restore monday.backup --store postgres://beam@db.example/beam --secrets-key-file secrets-key"
}

// Run restores.
func (c *Restore) Run(ctx context.Context, p *command.Program) error {
	if (c.Data == "") == (c.Store == "") {
		return command.UsageErrorf("name where to restore to: --data or --store (or the variable BEAM_DATA or BEAM_STORE), and not both")
	}
	in, err := openBackup(p, c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	var sum backup.Summary
	var damage error
	if logger := command.NewWarningLogger(p); c.Store == "" {
		sum, damage, err = datafolder.Restore(ctx, c.Data, in, c.Partial, logger)
	} else {
		err = c.UseDatabase(func(f *datafolder.Folder) (err error) {
			sum, damage, err = f.RestoreDatabase(ctx, in, c.Partial, logger)
			return err
		})
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "restored %s, backed up %s\n", describeSummary(sum), formatBackupTime(sum))
	if damage != nil {
		return fmt.Errorf("that is not all: %w", damage)
	}
	return describeMissing(p.Stdout, sum)
}

// openBackup opens a backup that the command line names: stdin if it is "-".
func openBackup(p *command.Program, file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(p.Stdin), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("the backup can't be read: %w", err)
	}
	return f, nil
}

func formatBackupTime(s backup.Summary) string { return s.CreatedAt.Local().Format(time.DateTime) }
