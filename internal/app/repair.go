package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/upstream/policy"
	"github.com/photon-beam/beam/web/identity"
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
// wraps [fs.ErrNotExist] if there are no runs, [ErrFolderInUse] if a process owns the folder, and
// [runlog.ErrCorrupt] if nothing can be read.
func Repair(ctx context.Context, dir string, apply bool, logger *slog.Logger) (report RepairReport, err error) {
	f, err := lockUnchecked(dir)
	if err != nil {
		return report, err
	}
	r := &repairer{DataFolder: f, logger: logger, RepairReport: RepairReport{Damaged: make(map[string]string)}}
	defer func() {
		err = errors.Join(err, os.RemoveAll(r.salvageDir()), os.RemoveAll(f.newStoreDir()), f.blobs.Close(), f.lock.Unlock())
	}()
	err = r.repair(ctx, apply)
	return r.RepairReport, err
}

type repairer struct {
	*DataFolder
	RepairReport
	logger *slog.Logger
	// leftovers are the files and folders that belong to no run, or are damaged.
	leftovers []string
	// unsure is why runs may lack what they did last, without being named; empty if they don't.
	unsure string
}

func (r *repairer) salvageDir() string { return filepath.Join(r.dir, salvageFolder) }

// A salvaged log is what can be read.
type salvagedLog struct {
	appends iter.Seq2[runlog.AppendedEntries, error]
	count   int
}

func (r *repairer) repair(ctx context.Context, apply bool) error {
	has, err := r.hasStore()
	if err != nil {
		return err
	}
	if has {
		err = r.copyStoreFiles()
	}
	if err != nil {
		return err
	}
	found, err := r.check(ctx, r.salvageDir())
	switch {
	case err == nil && found.Whole():
		r.Intact, r.Runs, r.Entries = true, found.Runs, found.Entries
		return nil
	case err != nil && !errors.Is(err, runlog.ErrCorrupt):
		return err
	}
	if err := r.findDamagedFiles(ctx); err != nil {
		return err
	}
	if has {
		return r.repairStore(ctx, apply)
	}
	return r.repairOldLog(ctx, apply)
}

// copyStoreFiles copies the store to salvageFolder, so that nothing in it changes.
func (r *repairer) copyStoreFiles() error {
	if err := errors.Join(os.RemoveAll(r.salvageDir()), atomicfile.MakeDir(r.salvageDir())); err != nil {
		return err
	}
	return store.CopyFiles(r.dir, r.salvageDir())
}

func (r *repairer) findDamagedFiles(ctx context.Context) error {
	return r.eachFile(ctx, func(run, digest string, damage error) {
		if damage != nil {
			r.leftovers = append(r.leftovers, filepath.Join(blobFolder, run, digest))
			r.Damaged[run] = damage.Error()
		}
	})
}

func (r *repairer) repairStore(ctx context.Context, apply bool) error {
	if err := errors.Join(os.RemoveAll(r.salvageDir()), atomicfile.MakeDir(r.salvageDir())); err != nil {
		return err
	}
	old, err := store.OpenSalvage(ctx, r.dir, r.salvageDir())
	if err != nil {
		return err
	}
	r.describeStore(old)
	l := salvagedLog{appends: func(yield func(runlog.AppendedEntries, error) bool) {
		for _, run := range old.Runs {
			for entries, err := range old.Read(ctx, run) {
				if !yield(runlog.AppendedEntries{Run: run.ID, Entries: entries}, err) {
					return
				}
			}
		}
	}}
	for _, run := range old.Runs {
		l.count += run.Appends
		if run.Damage != nil {
			r.Damaged[run.ID] = run.Damage.Error()
		}
	}
	err = r.buildStore(ctx, r.logger, func(s *store.Store) error {
		return errors.Join(r.copyState(ctx, s.State(), old), r.fill(ctx, s, l))
	})
	if err = errors.Join(err, old.Close()); err != nil || !apply {
		return err
	}
	if err := r.moveLeftovers(); err != nil {
		return err
	}
	return r.installStore(r.aside())
}

// copyState copies the small state that can be read. If a sign-out may be missing, or the session
// keys can't be decrypted, these are left out, so that the next start makes new ones.
func (r *repairer) copyState(ctx context.Context, s smallstate.Store, old *store.Salvage) error {
	for chunk := range smallstate.Chunks(old.State) {
		applied, err := s.Apply(ctx, chunk...)
		for i := 0; !applied && err == nil && i < len(chunk); i++ { // a damaged store may have a value twice
			_, err = s.Apply(ctx, chunk[i])
		}
		if err != nil {
			return err
		}
	}
	if !old.StateComplete {
		r.Problems = append(r.Problems, "some of what was accepted, signed out or told can't be read")
	}
	if !old.StateComplete || old.LostCommits != 0 {
		if err := r.holdTools(ctx, s, old.State); err != nil {
			return err
		}
	}
	_, keysErr := r.keyStore(s).Check(ctx)
	_, sealed := errors.AsType[*identity.SealError](keysErr)
	if old.StateComplete && old.LostCommits == 0 && !sealed {
		return nil
	}
	for _, bucket := range identity.Buckets() {
		if err := (smallstate.Bucket{Store: s, Name: bucket}).DeleteIf(ctx, func(smallstate.Value) bool { return true }); err != nil {
			return err
		}
	}
	r.Problems = append(r.Problems, "there will be new session keys: everybody signs in again, and calls that MCP clients go on with by a state of their own can't go on")
	r.leftovers = append(r.leftovers, oldKeysFile)
	if sealed {
		r.leftovers = append(r.leftovers, sealFile)
	}
	return nil
}

// holdTools makes the tools be held back of which it isn't known any more that they were accepted.
func (r *repairer) holdTools(ctx context.Context, s smallstate.Store, state []smallstate.Change) error {
	buckets := make(map[string]bool)
	for _, c := range state {
		buckets[c.Bucket] = true
	}
	held := false
	for name := range buckets {
		is, err := policy.PinsMayBeLost(ctx, smallstate.Bucket{Store: s, Name: name})
		if err != nil {
			return err
		}
		held = held || is
	}
	if held {
		r.Problems = append(r.Problems, "tools of other servers are held back until you accept them, if it isn't known that you have: beam upstream accept")
	}
	return nil
}

// describeStore notes what a store lacks beyond single runs.
func (r *repairer) describeStore(old *store.Salvage) {
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
	} else if !old.Complete && old.AllWhole() {
		r.Problems = append(r.Problems, "runs are missing, or not in their latest state; which isn't known")
	}
}

// repairOldLog copies an earlier version's log, which stays where it is.
func (r *repairer) repairOldLog(ctx context.Context, apply bool) error {
	old, err := oldlog.OpenDamaged(r.logDir())
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
	l := salvagedLog{appends: old.Scan(ctx), count: old.Count()}
	fill := func(s *store.Store) error { return r.fill(ctx, s, l) }
	if !apply {
		return r.buildStore(ctx, r.logger, fill)
	}
	return r.replaceOldLog(ctx, r.logger, func(s *store.Store) error {
		if err := fill(s); err != nil {
			return err
		}
		return r.moveLeftovers()
	})
}

// fill copies what can be read to a new store, ends the runs that can't go on, and checks the
// store.
func (r *repairer) fill(ctx context.Context, s *store.Store, l salvagedLog) error {
	progress, cut := newProgress(r.logger, l.count), make(map[string]bool)
	for a, err := range l.appends {
		if err != nil {
			return err
		}
		progress.add()
		if cut[a.Run] {
			continue
		}
		if n := r.countReadable(a); n < len(a.Entries) {
			cut[a.Run] = true
			r.Damaged[a.Run] = fmt.Sprintf("the file with the data of entry %d can't be read", a.Entries[n].Seq)
			if a.Entries = a.Entries[:n]; n == 0 {
				continue
			}
		}
		if err := appendOld(ctx, s, a); err != nil {
			return fmt.Errorf("copying run %s: %w", a.Run, err)
		}
	}
	if err := errors.Join(r.endRuns(ctx, s), r.findLeftovers(ctx, s)); err != nil {
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
		if _, err := r.blobs.Load(a.Run, e.Blob); err != nil {
			return i
		}
	}
	return len(a.Entries)
}

// endRuns ends the runs that lack something, and if it isn't known which do, those that would go
// on by themselves: they would repeat what they have done. Questions stay open.
func (r *repairer) endRuns(ctx context.Context, s runlist.Store) error {
	for id, err := range s.Runs(ctx) {
		if err != nil {
			return err
		}
		row, err := s.Row(ctx, id)
		if err != nil {
			return err
		}
		reason := r.Damaged[id]
		if reason == "" && (row.State != runstate.Waiting || len(row.Sleeps) > 0) {
			reason = r.unsure
		}
		if row.State.Ended() || reason == "" {
			continue
		}
		r.Ended = append(r.Ended, id)
		if _, err := s.Append(ctx, id, row.Last, endAsDamaged(row, reason)...); err != nil {
			return err
		}
	}
	return nil
}

// endDamaged ends the runs of a restored backup that lack something.
func (f *DataFolder) endDamaged(ctx context.Context, s runlist.Store, damaged map[string]string, unsure string) error {
	if len(damaged) == 0 && unsure == "" {
		return nil
	}
	r := &repairer{DataFolder: f, RepairReport: RepairReport{Damaged: damaged}, unsure: unsure}
	return r.endRuns(ctx, s)
}

func endAsDamaged(row *runlist.Row, reason string) (entries []runlog.Entry) {
	for _, a := range row.Asks {
		entries = append(entries, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.Seq, Reason: runlog.RunEnded}))
	}
	return append(entries, runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed, Error: "The data folder was damaged and repaired: " + reason + "."}))
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
		entries, err := os.ReadDir(filepath.Join(r.dir, folder))
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
		to := filepath.Join(r.dir, r.aside(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), moveFile(filepath.Join(r.dir, name), to)); err != nil {
			return err
		}
	}
	return nil
}
