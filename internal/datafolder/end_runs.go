package datafolder

import (
	"context"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// endRuns ends the runs that lack something, and if it isn't known which do, because of unsure,
// those that would go on by themselves: they would repeat what they have done. Questions stay
// open. It returns which have ended.
func endRuns(ctx context.Context, s runlist.Store, damaged map[string]string, unsure string) (ended []string, err error) {
	if len(damaged) == 0 && unsure == "" {
		return nil, nil
	}
	for id, err := range s.Runs(ctx) {
		if err != nil {
			return ended, err
		}
		row, err := s.Row(ctx, id)
		if err != nil {
			return ended, err
		}
		reason := damaged[id]
		if reason == "" && (row.State != runstate.Waiting || len(row.Sleeps) > 0) {
			reason = unsure
		}
		if row.State.Ended() || reason == "" {
			continue
		}
		ended = append(ended, id)
		if _, err := s.Append(ctx, id, row.Last, endAsDamaged(row, reason)...); err != nil {
			return ended, err
		}
	}
	return ended, nil
}

func endAsDamaged(row *runlist.Row, reason string) (entries []runlog.Entry) {
	for _, a := range row.Asks {
		entries = append(entries, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.Seq, Reason: runlog.RunEnded}))
	}
	return append(entries, runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed, Error: "The data folder was damaged and repaired: " + reason + "."}))
}
