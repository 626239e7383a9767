// Package logcheck checks from inside what a log says of its runs.
package logcheck

import (
	"context"
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
			r = &Run{Rest: func(runlog.Entry) error { return nil }, asked: map[uint64]bool{}, Steps: map[string]string{}}
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
	Steps map[string]string // the values of steps, by their keys
	End   *runlog.Finished  // nil if it hasn't ended

	runlog.Rest
	last  uint64
	epoch int
	asked map[uint64]bool // false once it is settled
}

func (r *Run) addEntry(e runlog.Entry) error {
	if e.Seq != r.last+1 {
		return fmt.Errorf("it follows entry %d", r.last)
	}
	r.last = e.Seq
	if r.End != nil {
		return errors.New("it follows the finish")
	}
	return e.Visit(r)
}

// Claimed checks that a claim is a later one.
func (r *Run) Claimed(_ runlog.Entry, c runlog.Claimed) error {
	if c.Epoch <= r.epoch {
		return fmt.Errorf("epoch %d follows epoch %d", c.Epoch, r.epoch)
	}
	r.epoch = c.Epoch
	return nil
}

// Asked notes a question.
func (r *Run) Asked(e runlog.Entry, _ runlog.Asked) error {
	r.asked[e.Seq] = true
	return nil
}

// Answered checks that the question is open.
func (r *Run) Answered(_ runlog.Entry, a runlog.Answered) error { return r.settle(a.AskSeq) }

// Withdrawn checks that the question is open.
func (r *Run) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error { return r.settle(w.AskSeq) }

func (r *Run) settle(ask uint64) error {
	if !r.asked[ask] {
		return fmt.Errorf("question %d is settled twice, or was not asked", ask)
	}
	r.asked[ask] = false
	return nil
}

// Stepped checks that a step is recorded once.
func (r *Run) Stepped(_ runlog.Entry, s runlog.Stepped) error {
	if _, again := r.Steps[s.Key]; again {
		return fmt.Errorf("step %s is recorded twice", s.Key)
	}
	r.Steps[s.Key] = string(s.Value)
	return nil
}

// Finished notes the end.
func (r *Run) Finished(_ runlog.Entry, f runlog.Finished) error {
	r.End = &f
	return nil
}
