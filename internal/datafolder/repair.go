package datafolder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// salvageFolder has a copy of a damaged store while it is read.
const salvageFolder = "salvage"

// A RepairReport is what [Repair] has done, or would do.
type RepairReport struct {
	Intact bool // nothing is damaged, and nothing is done
	// Runs and Entries are those that are kept.
	Runs, Entries int
	// Problems are what is lost beyond single runs.
	Problems []string
	// Damaged has what is lost of runs, by their ids.
	Damaged map[string]string
	// Ended are the runs that hadn't ended, and end as failed.
	Ended []string
	// Aside is the folder that what is damaged is moved to. It is empty if nothing is moved.
	Aside string
}

// Repair copies what can be read of the runs in a damaged folder, and puts the copy in the place
// of what is damaged, which it moves aside. A run of which something is missing is kept up to
// there, and ends as failed. Unless apply is set, Repair only says what would be lost. The error
// wraps [fs.ErrNotExist] if there are no runs, [ErrInUse] if a process owns the folder, and
// [runlog.ErrCorrupt] if nothing can be read. A nil progress logs how far it has come.
func Repair(ctx context.Context, dir string, apply bool, logger *slog.Logger, progress Progress) (RepairReport, error) {
	f, err := lockUnchecked(dir)
	if err != nil {
		return RepairReport{}, err
	}
	f.Progress = progress
	r := newRepairer(f, logger)
	err = r.repair(ctx, apply)
	return r.RepairReport, errors.Join(err, os.RemoveAll(f.path(salvageFolder)), os.RemoveAll(f.path(newStoreFolder)), f.unlock())
}

type repairer struct {
	*lockedFolder
	RepairReport
	logger *slog.Logger
	// leftovers are the files and folders that belong to no run, or are damaged.
	leftovers []string
	// unsure is why runs may lack what they did last, without being named; empty if they don't.
	unsure string
}

func newRepairer(f *lockedFolder, logger *slog.Logger) *repairer {
	return &repairer{lockedFolder: f, logger: logger, RepairReport: RepairReport{Damaged: make(map[string]string)}}
}

func (r *repairer) repair(ctx context.Context, apply bool) error {
	has, err := r.hasStore()
	if err == nil && has {
		err = sqlite.CopyFiles(r.Dir, r.path(salvageFolder)) // so that nothing changes
	}
	if err != nil {
		return err
	}
	found, err := r.check(ctx, r.path(salvageFolder))
	switch {
	case err == nil && found.Whole():
		r.Intact, r.Runs, r.Entries = true, found.Runs, found.Entries
		return nil
	case err != nil && !errors.Is(err, runlog.ErrCorrupt):
		return err
	}
	err = r.eachFile(ctx, func(run, digest string, damage error) {
		if damage != nil {
			r.leftovers = append(r.leftovers, filepath.Join(blobFolder, run, digest))
			r.Damaged[run] = damage.Error()
		}
	})
	if err != nil {
		return err
	}
	if has {
		return r.repairStore(ctx, apply)
	}
	return r.repairOldLog(ctx, apply)
}

func (r *repairer) repairStore(ctx context.Context, apply bool) error {
	old, err := store.OpenSalvage(ctx, r.Dir, r.path(salvageFolder))
	if err != nil {
		return err
	}
	r.describeStore(old)
	err = r.buildStore(ctx, r.logger, func(s *store.Store) error {
		return errors.Join(r.copyState(ctx, s.State(), old), r.fill(ctx, s, old))
	})
	if err = errors.Join(err, old.Close()); err != nil || !apply {
		return err
	}
	if err := r.moveLeftovers(); err != nil {
		return err
	}
	return r.installStore(r.aside())
}

// describeStore notes what a store lacks.
func (r *repairer) describeStore(old *store.Salvage) {
	named := false
	for _, run := range old.Runs {
		if run.Damage != nil {
			r.Damaged[run.ID], named = run.Damage.Error(), true
		}
	}
	switch {
	case old.LostCommits > 0:
		r.unsure = fmt.Sprintf("the last %s are lost", humanize.Count(int(old.LostCommits), "transaction"))
	case old.LostCommits < 0:
		r.unsure = "it can't be known whether the last transactions are lost"
	}
	if r.unsure != "" {
		r.Problems = append(r.Problems, r.unsure+": questions that were answered in them are open again")
	}
	if old.Nameless > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%s can't be read, as their ids are lost", humanize.Count(old.Nameless, "run")))
	} else if !old.Complete && !named {
		r.Problems = append(r.Problems, "runs are missing, or not in their latest state; which isn't known")
	}
}

// repairOldLog copies an earlier version's log, which stays where it is.
func (r *repairer) repairOldLog(ctx context.Context, apply bool) error {
	old, err := oldlog.OpenDamaged(r.path(logFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(r.requireRuns(), err)
	}
	if err != nil {
		return err
	}
	report := old.Report()
	for run, seq := range report.Truncated {
		r.Damaged[run] = fmt.Sprintf("entry %d and those that follow are missing", seq)
	}
	for _, run := range report.Headless {
		r.Damaged[run] = "its first entries are missing"
	}
	if report.Damage != nil {
		r.Problems = append(r.Problems, report.Damage.Error())
		r.unsure = "a run's last entries may be missing, or it may have been deleted"
	}
	fill := func(s *store.Store) error { return r.fill(ctx, s, old) }
	if !apply {
		return r.buildStore(ctx, r.logger, fill)
	}
	m := migration{r.lockedFolder, r.logger}
	return m.replaceLog(ctx, func(s *store.Store) error {
		if err := fill(s); err != nil {
			return err
		}
		return r.moveLeftovers()
	})
}

// fill copies what can be read to a new store, ends the runs that can't go on, and checks the
// store.
func (r *repairer) fill(ctx context.Context, s *store.Store, from source) error {
	cut := make(map[string]bool)
	err := r.copyRuns(ctx, s, from, r.logger, func(a runlog.AppendedEntries) int {
		if cut[a.Run] {
			return 0
		}
		n := r.countReadable(a)
		if cut[a.Run] = n < len(a.Entries); cut[a.Run] {
			r.Damaged[a.Run] = fmt.Sprintf("the file with the data of entry %d can't be read", a.Entries[n].Seq)
		}
		return n
	})
	if err != nil {
		return err
	}
	if r.Ended, err = endRuns(ctx, s, r.Damaged, r.unsure); err != nil {
		return err
	}
	if err := r.findLeftovers(ctx, s); err != nil {
		return err
	}
	report, err := s.Check(ctx)
	if err == nil && !report.Whole() {
		err = fmt.Errorf("the copy isn't whole: %v %v", report.Problems, report.Damaged)
	}
	r.Runs, r.Entries = report.Runs, report.Entries
	return err
}

// countReadable returns how many entries of an append come before one whose data can't be read.
func (r *repairer) countReadable(a runlog.AppendedEntries) int {
	for i, e := range a.Entries {
		if e.Blob == "" {
			continue
		}
		if _, err := r.Blobs.Load(a.Run, e.Blob); err != nil {
			return i
		}
	}
	return len(a.Entries)
}

// aside returns the name of the folder that what is damaged is moved to.
func (r *repairer) aside() string {
	if r.Aside == "" {
		r.Aside = "damaged-" + time.Now().UTC().Format("20060102T150405")
	}
	return r.Aside
}

// findLeftovers finds what belongs to runs of which nothing is kept.
func (r *repairer) findLeftovers(ctx context.Context, s *store.Store) error {
	for _, folder := range []string{blobFolder, secretKeysFolder} {
		entries, err := os.ReadDir(r.path(folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			_, err := s.Row(ctx, e.Name())
			if errors.Is(err, runlog.ErrNotFound) {
				r.leftovers = append(r.leftovers, filepath.Join(folder, e.Name()))
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *repairer) moveLeftovers() error {
	for _, name := range r.leftovers {
		to := r.path(r.aside(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), moveFile(r.path(name), to)); err != nil {
			return err
		}
	}
	return nil
}
