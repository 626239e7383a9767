// Package logcheck checks from inside what a log says of its runs.
package logcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/internal/runlog"
)

// Check reads a log, and reports where ordinals have gaps, epochs go back, a question is settled
// twice, a step recorded twice, or something follows the end of a run. It returns the runs, by their ids.
func Check(ctx context.Context, l runlog.Log, errorf func(format string, args ...any)) (map[string]*Run, error) {
	runs := make(map[string]*Run)
	for a, err := range runlog.Scan(ctx, l) {
		if err != nil {
			return nil, err
		}
		r := runs[a.Run]
		if r == nil {
			r = &Run{asked: map[uint64]bool{}, Stepped: map[string]string{}}
			runs[a.Run] = r
		}
		for _, e := range a.Entries {
			if err := r.addEntry(e); err != nil {
				errorf("run %s, entry %d: %v", a.Run, e.Seq, err)
			}
		}
	}
	return runs, nil
}

// A Run is what the entries of a run say.
type Run struct {
	Stepped  map[string]string // the values of steps, by their keys
	Finished *runlog.Finished  // nil if it hasn't ended

	last  uint64
	epoch int
	asked map[uint64]bool // false once it is settled
}

func (r *Run) addEntry(e runlog.Entry) error {
	if e.Seq != r.last+1 {
		return fmt.Errorf("it follows entry %d", r.last)
	}
	r.last = e.Seq
	if r.Finished != nil {
		return errors.New("it follows the finish")
	}
	switch e.Kind {
	case runlog.KindClaimed:
		c, err := runlog.Decode[runlog.Claimed](e)
		if err != nil || c.Epoch <= r.epoch {
			return fmt.Errorf("epoch %d follows epoch %d; %w", c.Epoch, r.epoch, err)
		}
		r.epoch = c.Epoch
	case runlog.KindAsked:
		r.asked[e.Seq] = true
	case runlog.KindAnswered, runlog.KindWithdrawn:
		var s struct{ Ask uint64 }
		if err := json.Unmarshal(e.Data, &s); err != nil {
			return err
		}
		if !r.asked[s.Ask] {
			return fmt.Errorf("question %d is settled twice, or was not asked", s.Ask)
		}
		r.asked[s.Ask] = false
	case runlog.KindStepped:
		s, err := runlog.Decode[runlog.Stepped](e)
		if err != nil {
			return err
		}
		if _, again := r.Stepped[s.Key]; again {
			return fmt.Errorf("step %s is recorded twice", s.Key)
		}
		r.Stepped[s.Key] = string(s.Value)
	case runlog.KindFinished:
		f, err := runlog.Decode[runlog.Finished](e)
		if err != nil {
			return err
		}
		r.Finished = &f
	}
	return nil
}
