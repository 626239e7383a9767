package journal

import (
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// checkStillApplies returns an error if entries became obsolete because others
// were appended first: ErrSettled if they settle a settled question or sleep, and ErrOver if
// they come from a worker of an older epoch.
func (j *Journal) checkStillApplies(entries []runlog.Entry, epoch int) error {
	c := obsolescence{run: &j.Run, superseded: j.Epoch > epoch}
	c.Rest = func(runlog.Entry) error {
		if c.superseded {
			return ErrOver
		}
		return nil
	}
	for _, e := range entries {
		if err := e.Visit(c); err != nil {
			return err
		}
	}
	return nil
}

// An obsolescence returns whether entries are obsolete. The rest come from workers.
type obsolescence struct {
	runlog.Rest
	run        *runstate.Run
	superseded bool
}

// Finished lets only the end of the new worker's generator count.
func (c obsolescence) Finished(e runlog.Entry, f runlog.Finished) error {
	if IsGeneratorEnd(f) {
		return c.Rest(e)
	}
	return nil
}

// IsGeneratorEnd reports whether the generator ended the run by itself.
func IsGeneratorEnd(f runlog.Finished) bool {
	return f.Status == runlog.Completed || f.Status == runlog.Failed || f.Status == runlog.Unanswered
}

func (c obsolescence) Answered(_ runlog.Entry, a runlog.Answered) error { return c.settles(a.AskSeq) }

func (c obsolescence) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error { return c.settles(w.AskSeq) }

func (c obsolescence) settles(ask uint64) error {
	if c.run.FindAsk(ask) == nil {
		return ErrSettled
	}
	return nil
}

func (c obsolescence) Woken(_ runlog.Entry, w runlog.Woken) error {
	if c.run.FindSleep(w.SleepSeq) == nil {
		return ErrSettled
	}
	return nil
}

func (c obsolescence) Sampling(_ runlog.Entry, s runlog.Sampling) error {
	return CheckSampling(c.run, s)
}

func (c obsolescence) Adopted(runlog.Entry, runlog.Adopted) error { return nil } // no worker's

// CheckSampling returns an error if s doesn't follow what is recorded of a run.
func CheckSampling(run *runstate.Run, s runlog.Sampling) error {
	a := run.FindAsk(s.AskSeq)
	switch {
	case a == nil:
		return ErrSettled
	case s.Approved != nil && (a.Calling || s.Call != a.Call+1),
		s.Approved == nil && (!a.Calling || s.Call != a.Call):
		return ErrSamplingChanged
	}
	return nil
}
