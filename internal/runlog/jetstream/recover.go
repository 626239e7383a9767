package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/runlog"
)

// Suffixes of the folder that a recovery writes to: until it is complete, and
// from then on.
const (
	recovering = ".recovering"
	recovered  = ".recovered"
)

// Recover replaces a damaged log by a new one with everything that can be read,
// and moves the damaged log to the folder that the report names. A run with
// missing entries keeps those before the first missing one, and fails there. A
// run whose first entries are missing is lost. A run whose last entries are
// missing can't be recognized: it is kept, and continues from what is left.
//
// If Recover fails, or the process ends, either the damaged log is still in
// place, or [completeRecovery] finishes the job.
func Recover(ctx context.Context, o Options) (Report, error) {
	s, damage := inspectFolder(o.Dir)
	if damage != nil && !errors.Is(damage, ErrCorrupt) {
		return Report{}, damage
	}
	target := o
	target.Dir += recovering
	if err := os.RemoveAll(target.Dir); err != nil {
		return Report{}, err
	}
	report, err := recoverInto(ctx, o.Dir, s, target)
	if err != nil {
		return report, errors.Join(err, os.RemoveAll(target.Dir))
	}
	if err := os.RemoveAll(o.Dir + recovered); err != nil {
		return report, err
	}
	if err := os.Rename(target.Dir, o.Dir+recovered); err != nil {
		return report, err
	}
	report.Damage, report.TornBytes = damage, s.index.tornBytes()
	report.DamagedDir = filepath.Join(filepath.Dir(o.Dir), "damaged-"+time.Now().UTC().Format("20060102T150405.000Z"))
	if err := os.Mkdir(report.DamagedDir, 0o700); err != nil {
		return report, err
	}
	if err := os.Rename(o.Dir, filepath.Join(report.DamagedDir, filepath.Base(o.Dir))); err != nil {
		return report, err
	}
	return report, completeRecovery(o.Dir)
}

// completeRecovery moves a recovered log into place, if the process ended after
// moving the damaged one away.
func completeRecovery(dir string) error {
	_, err := os.Stat(dir)
	_, recoveredErr := os.Stat(dir + recovered)
	if !errors.Is(err, fs.ErrNotExist) || recoveredErr != nil {
		return nil
	}
	if err := os.Rename(dir+recovered, dir); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(dir))
}

// recoverInto creates a log and copies everything readable to it.
func recoverInto(ctx context.Context, dir string, state folderState, target Options) (report Report, err error) {
	l, err := Open(ctx, target)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	report, err = salvage(dir, state, func(h messageHead) error {
		entries, err := h.decodeEntries(make([]runlog.Entry, 0, h.count), 0)
		if err == nil {
			_, err = l.Append(ctx, string(h.run), h.firstSeq-1, entries...)
		}
		return err
	})
	for run, missing := range report.Truncated {
		if err == nil {
			err = failRun(ctx, l, run, missing)
		}
	}
	return report, err
}

// failRun ends a run at its first missing ordinal: it withdraws the open questions
// and records the failure.
func failRun(ctx context.Context, l *Log, run string, missing uint64) error {
	open := make(map[uint64]bool)
	for batch, err := range l.Read(ctx, run, 0) {
		if err != nil {
			return err
		}
		for _, e := range batch {
			trackOpenAsks(open, e)
		}
	}
	var end []runlog.Entry
	for ask := range open {
		end = append(end, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: ask, Reason: runlog.RunEnded}))
	}
	text := fmt.Sprintf("part of the run's log was lost: the entries after entry %d could not be recovered", missing-1)
	end = append(end, runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed, Error: text}))
	_, err := l.Append(ctx, run, missing-1, end...)
	return err
}

// trackOpenAsks adds a question that e opens to open, or removes one that it
// settles.
func trackOpenAsks(open map[uint64]bool, e runlog.Entry) {
	switch e.Kind {
	case runlog.KindAsked:
		open[e.Seq] = true
	case runlog.KindAnswered:
		if a, err := runlog.Decode[runlog.Answered](e); err == nil {
			delete(open, a.AskSeq)
		}
	case runlog.KindWithdrawn:
		if w, err := runlog.Decode[runlog.Withdrawn](e); err == nil {
			delete(open, w.AskSeq)
		}
	}
}
