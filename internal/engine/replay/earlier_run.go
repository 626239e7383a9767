package replay

import (
	"cmp"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
)

// An EarlierRun reads the entries of the earlier run.
type EarlierRun struct {
	ID string

	runlog.Rest
	source *Source
	named  bool                   // see History
	asks   map[uint64]*sourceCall // by their ordinals
	last   uint64
}

// Earlier returns what reads the entries of the earlier run.
func (s *Source) Earlier() *EarlierRun {
	s.byKey, s.given = make(map[string]*sourceCall), make(map[string][]*sourceCall)
	return &EarlierRun{ID: s.from, Rest: ignore, source: s, asks: make(map[uint64]*sourceCall)}
}

func ignore(runlog.Entry) error { return nil }

// Read reads the next entry. The error is that of decoding it.
func (r *EarlierRun) Read(e runlog.Entry) error {
	if f := r.source.fork; f != nil && f.Last > 0 && e.Seq > f.Last {
		return nil
	}
	r.last = e.Seq
	return e.Visit(r)
}

// End finds out what can be taken, when all entries were read. It reports false if the run isn't
// there, or not with all the entries that it had when it was forked.
func (r *EarlierRun) End() bool {
	s, outcomes := r.source, 0
	for _, c := range s.calls {
		if c.seq > s.until || s.fork != nil && c.stops {
			break
		}
		c.listed = true
		if c.asked.Answer != nil || c.asked.Question == nil {
			outcomes++
		}
		if !s.made[c.key] {
			s.left++
		}
	}
	if f := s.fork; f != nil && f.Last == 0 {
		f.Last, f.Calls = r.last, outcomes
	}
	return r.last > 0 && (s.fork == nil || r.last == s.fork.Last)
}

func (r *EarlierRun) Claimed(_ runlog.Entry, c runlog.Claimed) error {
	r.named = c.Goroutines
	return nil
}

func (r *EarlierRun) add(e runlog.Entry, key, given string, c *sourceCall) {
	c.key, c.seq, c.named, c.goroutine = key, e.Seq, r.named, e.Goroutine
	s, given := r.source, cmp.Or(given, key)
	s.calls, s.byKey[key] = append(s.calls, c), c
	s.given[given] = append(s.given[given], c)
	if !r.named {
		if base := keySuffix.ReplaceAllString(key, ""); base != given {
			s.given[base] = append(s.given[base], c)
		}
	}
}

func (r *EarlierRun) Asked(e runlog.Entry, a runlog.Asked) error {
	if a.Question == nil {
		return nil
	}
	c := &sourceCall{kind: string(a.Question.Kind), asked: runlog.NewRecordedAsk(e, a)}
	r.asks[e.Seq] = c
	r.add(e, a.Key, a.GivenKey, c)
	return nil
}

func (r *EarlierRun) Answered(_ runlog.Entry, a runlog.Answered) error {
	c := r.asks[a.AskSeq]
	if c == nil {
		return nil
	}
	c.asked.SetAnswer(&a)
	if q := c.asked.Question; q.Destructive && a.Answer.Action == askdata.Accept { // that was agreed to once
		c.asked.Answer = nil
	}
	c.stops = c.asked.Answer == nil
	return nil
}

// Withdrawn notes that the run went on without an answer, unless it does so again by itself.
func (r *EarlierRun) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error {
	if c := r.asks[w.AskSeq]; c != nil {
		c.stops = w.Reason != runlog.RunEnded && w.Reason != runlog.TakenBack
	}
	return nil
}

func (r *EarlierRun) Stepped(e runlog.Entry, s runlog.Stepped) error {
	if r.source.fork != nil {
		r.add(e, s.Key, s.GivenKey, &sourceCall{kind: driver.StepKind, stepped: &s})
	}
	return nil
}

func (r *EarlierRun) Sleeping(e runlog.Entry, s runlog.Sleeping) error {
	if r.source.fork != nil {
		r.add(e, s.Key, s.GivenKey, &sourceCall{kind: driver.SleepKind, until: s.Until})
	}
	return nil
}
