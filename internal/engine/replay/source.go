package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Source is an earlier run from which another one takes what is recorded, as long as it makes
// the same calls: a replay takes answers, and a fork the outcomes of steps and sleeps, too. It
// takes nothing after the first call that differs.
//
// What a fork has yet to take follows from both logs, so that another process can go on. The
// lock of the run that takes guards it. Its methods accept a nil receiver, which has nothing.
type Source struct {
	Mask func(key string) string // masks secrets in keys for people; nil if there are none

	fork  *runlog.Fork // nil for a replay
	from  string
	until uint64 // ordinal of the last call to take

	unpatched map[string]bool // the given keys of patches whose places the earlier run had passed

	calls []*sourceCall // in their order
	byKey map[string]*sourceCall
	given map[string][]*sourceCall // by the keys that the generator gave
	left  int                      // calls that may be taken, and that the run has yet to make

	// What the entries of the run say that takes.
	made    map[string]bool   // the keys of its calls
	pending map[uint64]string // the keys of its open questions that are answered as recorded
	taken   int
	ended   bool
}

// A sourceCall is a call of the earlier run.
type sourceCall struct {
	kind, key string
	seq       uint64
	named     bool
	goroutine string
	listed    bool // it may be taken, if it has an outcome

	asked   runlog.RecordedAsk // of a question
	stepped *runlog.Stepped    // of a step
	until   time.Time          // of a sleep
	// stops means that the call must be made anew, although the run went on after it.
	stops bool
}

// NewReplay returns a source of the answers of a run up to an ordinal, which is to be read; see
// [Source.Earlier].
func NewReplay(from string, until uint64) *Source { return &Source{from: from, until: until} }

// NewFork returns a source of what a fork takes, which is to be read; see [Source.Earlier]. If f has
// no Last yet, that sets the rest of it.
func NewFork(f runlog.Fork) *Source { return &Source{fork: &f, from: f.Of, until: f.Until} }

// SetIn sets in the first entry of a run what it is a replay or a fork of.
func (s *Source) SetIn(started *runlog.Started) {
	switch {
	case s == nil:
	case s.fork == nil:
		started.ReplayOf = s.from
	default:
		started.Fork = s.fork
	}
}

// IsVolatile reports whether only this process knows what is left to take.
func (s *Source) IsVolatile() bool { return s != nil && s.fork == nil }

// HasOutcomesLeft reports, from the entries of a fork alone, whether there are outcomes that it
// has yet to take.
func (s *Source) HasOutcomesLeft() bool { return !s.ended && s.taken < s.fork.Calls }

// NeedsEarlier reports, from the entries of a fork alone, whether it needs the earlier run.
func (s *Source) NeedsEarlier() bool { return s.HasOutcomesLeft() || !s.ended && len(s.pending) > 0 }

// Keys returns the keys of the calls of the earlier run that a fork hasn't made.
func (s *Source) Keys() (keys []string) {
	if s == nil || s.fork == nil {
		return nil
	}
	for _, c := range s.calls {
		if !s.made[c.key] {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// FindKey returns the key of the call of the earlier run that a goroutine of a fork makes now
// with a key, as [History.FindKey] does.
func (s *Source) FindKey(goroutine, given string) string {
	if s == nil || s.fork == nil {
		return ""
	}
	calls := s.given[given]
	for _, c := range calls {
		if !s.made[c.key] && (!c.named || c.goroutine == goroutine) {
			return c.key
		}
	}
	if len(calls) == 1 && !s.made[calls[0].key] {
		return calls[0].key
	}
	return ""
}

// TakeAsk returns the answer to a question that is about to be asked; nil if somebody is to give
// one. It says why if the question is the call that differs.
func (s *Source) TakeAsk(c *driver.Call, asked runlog.Asked) (answer *askdata.Answer, differs string) {
	past, differs := s.take(c)
	if past == nil {
		return nil, differs
	}
	question, err := json.Marshal(asked.Question)
	if err != nil || !bytes.Equal(question, past.asked.Raw) || asked.Evidence != past.asked.Evidence {
		return nil, s.end("This call, %s, differs: run %s asked something else there, or showed something else.", s.shown(c), shortRun(s.from))
	}
	return past.asked.Answer, ""
}

// TakeStep returns the outcome of a step that is about to run; nil if it is to run. It says why if
// the step is the call that differs.
func (s *Source) TakeStep(c *driver.Call) (outcome *runlog.Stepped, differs string) {
	if s == nil || s.fork == nil {
		return nil, ""
	}
	past, differs := s.take(c)
	if past == nil {
		return nil, differs
	}
	return past.stepped, ""
}

// HasPassed reports whether the call of a patch is at a place that the earlier run passed without
// it.
func (s *Source) HasPassed(c *driver.Call) bool {
	if s == nil || s.fork == nil || !c.Patch || !s.unpatched[c.GivenKey] && (s.byKey[c.Key] != nil || s.left == 0 || s.ended) {
		return false
	}
	if s.unpatched == nil {
		s.unpatched = make(map[string]bool)
	}
	s.unpatched[c.GivenKey] = true
	return true
}

// shown returns the key of a call as people may see it.
func (s *Source) shown(c *driver.Call) string {
	if s.Mask != nil {
		return quoteKey(s.Mask(c.Key))
	}
	return quoteKey(c.Key)
}

// TakeSleep returns when a sleep ends that is about to begin; zero if that isn't recorded. It says
// why if the sleep is the call that differs.
func (s *Source) TakeSleep(c *driver.Call) (until time.Time, differs string) {
	if s == nil || s.fork == nil {
		return until, ""
	}
	past, differs := s.take(c)
	if past == nil {
		return until, differs
	}
	return past.until, ""
}

// take returns the call of the earlier run that the generator makes again; nil if it is to be made
// anew. Other goroutines may make now what the earlier run did after the last call to take.
func (s *Source) take(c *driver.Call) (past *sourceCall, differs string) {
	if s == nil {
		return nil, ""
	}
	if past = s.byKey[c.Key]; s.made[c.Key] {
		past = nil
	}
	switch {
	case s.ended || s.left == 0 || past != nil && !past.listed && c.Concurrent:
		past = nil
	case past == nil || !past.listed || past.kind != c.Kind:
		instead := past
		for i := 0; instead == nil || !instead.listed || s.made[instead.key]; i++ {
			instead = s.calls[i]
		}
		past, differs = nil, s.end("This call, %s (%s), differs: run %s made the call %s (%s) here.", s.shown(c), c.Kind, shortRun(s.from), quoteKey(instead.key), instead.kind)
	}
	s.make(c.Key)
	return past, differs
}

// make notes that the run has made a call.
func (s *Source) make(key string) {
	if s.made[key] {
		return
	}
	if s.made == nil {
		s.made = make(map[string]bool)
	}
	s.made[key] = true
	if c := s.byKey[key]; c != nil && c.listed {
		s.left--
	}
}

// end ends the taking. It returns why, for people.
func (s *Source) end(format string, args ...any) string {
	s.ended = true
	what := "further calls are made anew"
	if s.fork == nil {
		what = "further questions are asked"
	}
	return fmt.Sprintf(format, args...) + " It and all " + what + "."
}

// PendingAnswer returns the answer to an open question of a fork that is answered as recorded; nil
// if somebody is to give one.
func (s *Source) PendingAnswer(seq uint64) *askdata.Answer {
	if s == nil || s.ended || s.pending[seq] == "" || s.byKey[s.pending[seq]] == nil {
		return nil
	}
	return s.byKey[s.pending[seq]].asked.Answer
}

// Surface is the surface of answers that are taken from an earlier run.
const Surface = "replay"

// Note notes what an entry of a fork says about what it has taken. Entries must be noted in their
// order, once each; the error is that of decoding the entry.
func (s *Source) Note(e runlog.Entry) error {
	if s == nil || s.fork == nil {
		return nil
	}
	return e.Visit(forkedRun{ignore, s})
}

// A forkedRun visits the entries of the run that takes.
type forkedRun struct {
	runlog.Rest
	*Source
}

// note notes a call with a key.
func (r forkedRun) note(key string, taken bool, differs string) {
	r.make(key)
	if taken {
		r.taken++
	}
	r.ended = r.ended || differs != ""
}

func (r forkedRun) Asked(e runlog.Entry, a runlog.Asked) error {
	r.note(a.Key, a.Taken, a.Differs)
	if a.Taken {
		if r.pending == nil {
			r.pending = make(map[uint64]string)
		}
		r.pending[e.Seq] = a.Key
	}
	return nil
}

func (r forkedRun) Answered(_ runlog.Entry, a runlog.Answered) error {
	return r.settle(a.AskSeq, a.Surface == Surface)
}

func (r forkedRun) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error {
	return r.settle(w.AskSeq, false)
}

// settle ends the taking if a question that was to be answered again was settled in another way.
func (r forkedRun) settle(seq uint64, again bool) error {
	if r.pending[seq] != "" {
		delete(r.pending, seq)
		r.ended = r.ended || !again
	}
	return nil
}

func (r forkedRun) Stepped(_ runlog.Entry, s runlog.Stepped) error {
	r.note(s.Key, s.Taken, s.Differs)
	return nil
}

func (r forkedRun) Sleeping(_ runlog.Entry, s runlog.Sleeping) error {
	r.note(s.Key, s.Taken, s.Differs)
	return nil
}

func quoteKey(key string) string { return strconv.Quote(humanize.Truncate(key, 60)) }

func shortRun(id string) string { return id[:min(len(id), 4)] }
