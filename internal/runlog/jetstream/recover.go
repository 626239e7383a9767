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

// These follow the name of a log's folder, where what can be read of it is
// gathered, and where all of that is.
const (
	recovering = ".recovering"
	recovered  = ".recovered"
)

// Recover makes a new log of what can be read of a damaged one, which is moved
// aside, to the folder that the report names. Runs with a hole keep what is
// before it, and end there, with an error that says so; of runs without a
// beginning nothing can be kept. A run whose end is missing can't be told from
// one that got no further: it is kept, and goes on from there.
//
// If it fails, or the process ends, the damaged log stays where it was, or else
// the recovery is complete; see [completeRecovery].
func Recover(ctx context.Context, o Options) (Report, error) {
	s, damage := inspect(o.Dir)
	if damage != nil && !errors.Is(damage, ErrCorrupt) {
		return Report{}, damage
	}
	to := o
	to.Dir += recovering
	if err := os.RemoveAll(to.Dir); err != nil {
		return Report{}, err
	}
	report, err := gather(ctx, o.Dir, s, to)
	if err != nil {
		return report, errors.Join(err, os.RemoveAll(to.Dir))
	}
	if err := os.RemoveAll(o.Dir + recovered); err != nil {
		return report, err
	}
	if err := os.Rename(to.Dir, o.Dir+recovered); err != nil {
		return report, err
	}
	report.Damage, report.Torn = damage, s.survey.torn()
	report.Aside = filepath.Join(filepath.Dir(o.Dir), "damaged-"+time.Now().UTC().Format("20060102T150405.000Z"))
	if err := os.Mkdir(report.Aside, 0o700); err != nil {
		return report, err
	}
	if err := os.Rename(o.Dir, filepath.Join(report.Aside, filepath.Base(o.Dir))); err != nil {
		return report, err
	}
	return report, completeRecovery(o.Dir)
}

// completeRecovery puts a log that was recovered in the place of the damaged
// one, if that was moved aside and the process ended then.
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

// gather fills a new log.
func gather(ctx context.Context, dir string, s state, to Options) (report Report, err error) {
	l, err := Open(ctx, to)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	report, err = salvage(dir, s, func(h messageHead) error {
		entries, err := h.decodeEntries(make([]runlog.Entry, 0, h.count), 0)
		if err == nil {
			_, err = l.Append(ctx, string(h.run), h.firstSeq-1, entries...)
		}
		return err
	})
	for run, missing := range report.Holed {
		if err == nil {
			err = endBefore(ctx, l, run, missing)
		}
	}
	return report, err
}

// endBefore ends a run before the ordinal that is missing.
func endBefore(ctx context.Context, l *Log, run string, missing uint64) error {
	open := make(map[uint64]bool)
	for batch, err := range l.Read(ctx, run, 0) {
		if err != nil {
			return err
		}
		for _, e := range batch {
			settle(open, e)
		}
	}
	var end []runlog.Entry
	for ask := range open {
		end = append(end, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: ask, Reason: runlog.RunEnded}))
	}
	text := fmt.Sprintf("part of its record was lost: what followed entry %d could not be recovered", missing-1)
	end = append(end, runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed, Error: text}))
	_, err := l.Append(ctx, run, missing-1, end...)
	return err
}

// settle notes what an entry says of questions.
func settle(open map[uint64]bool, e runlog.Entry) {
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
