package term

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/term/render"
)

// Runs is what a session needs of a Beam. Package runs implements it.
type Runs interface {
	Follow(ctx context.Context, id string, after uint64) iter.Seq2[[]runlog.Entry, error]
	Answer(ctx context.Context, askID string, a runs.Answer) error
	Cancel(ctx context.Context, id string) error
	Ask(ctx context.Context, id string) (engine.OpenAsk, error)
	Models(ctx context.Context, askID string) (sampling.Description, error)
	Approve(ctx context.Context, askID string, d sampling.Decision) error
}

// A Question is an open question.
type Question struct {
	*askdata.Question
	asked    *askdata.Question // as it was asked; nil if its request to a model doesn't change
	ID       string            // of the ask
	Key      string
	Photon   string    // that asks
	Deadline time.Time // zero if there is none
	Lost     string    // says so if a restart of Beam loses it
	// Ends says that leaving the question ends the run.
	Ends bool
	// CheckJSON returns what is wrong with the value of a field without a type, which is
	// JSON; nil if nothing but that is known of it.
	CheckJSON func(name string, value json.RawMessage) error
	// Models are the models that a question to a model can be sent to, that which it is sent
	// to unless the person chooses another one first.
	Models []sampling.ModelDescription
	// Stands is where a question to a model stands.
	Stands sampling.Description
}

// SetSampling sets where a question to a model stands, and what it can be sent to.
func (q *Question) SetSampling(d sampling.Description) {
	q.Stands = d
	q.Models = slices.DeleteFunc(slices.Clone(d.Models), func(m sampling.ModelDescription) bool { return m.Unfit != "" })
	if i := slices.IndexFunc(q.Models, func(m sampling.ModelDescription) bool { return m.Name == d.Choice }); i > 0 {
		choice := q.Models[i]
		q.Models = slices.Insert(slices.Delete(q.Models, i, i+1), 0, choice)
	}
}

// revise gives the question the message of a version of its request to a model; nil stands for
// the request as it was asked.
func (q *Question) revise(version *ask.SampleRequest) {
	if q.Question = q.asked; version != nil {
		q.Question = runlog.Revise(q.asked, version)
	}
}

// request returns the version of a request that is sent unless a person changes it: the one
// approved last, or else the request as it was asked. Nil if the question isn't for a model.
func (q *Question) request() *ask.SampleRequest {
	return cmp.Or(q.Stands.Request, asking.SampleOf(q.Question))
}

// An Asker asks a person.
type Asker interface {
	// Ask returns the person's answer, and shows what was wrong with the previous one. The
	// error is [ErrPostponed], [ErrLeft], [ErrInterrupted], or ctx's when the question is
	// settled elsewhere.
	Ask(ctx context.Context, q *Question, invalid *generators.InvalidError) (runs.Answer, error)
}

// The ways in which a question, or a run, is left.
var (
	// ErrPostponed leaves the question open and follows the run.
	ErrPostponed = errors.New("the question stays open")
	// ErrLeft leaves the question open and the run.
	ErrLeft = errors.New("the run was left")
	// ErrInterrupted means that the person pressed Ctrl-C.
	ErrInterrupted = errors.New("interrupted")
	// ErrHungUp is the cause with which a session's context ends when the terminal is gone.
	// A run that doesn't end with the session is left then.
	ErrHungUp = errors.New("the terminal was closed")
	// ErrStreamEnded means that a run can't be followed to its end.
	ErrStreamEnded = errors.New("the run can't be followed any more: another user has adopted it, or it was deleted")
)

// A Session follows one run, and answers its questions.
type Session struct {
	Runs     Runs
	View     *View // shows events and questions; nil for nothing
	Prepared *Prepared
	Asker    Asker // nil if nobody can be asked
	// Watch follows without answering: neither prepared answers nor the Asker are used.
	Watch bool
	// Known is the last ordinal when the session begins: until then, questions are told and
	// not asked, as they may be settled.
	Known uint64
	// Ends says that the run ends with this process.
	Ends bool
	// StopOnInterrupt stops the run when ctx ends; otherwise the run is left.
	StopOnInterrupt bool
	// Each is called with the entries, if it isn't nil.
	Each func([]runlog.Entry) error
	// HowToAnswer returns the command that answers a question from another terminal; nil if
	// there is none.
	HowToAnswer func(askID string) string

	id        string
	photon    string
	open      []*Question // not settled
	current   *Question   // being asked; nil if none
	cancelAsk context.CancelCauseFunc
	replies   chan reply
	invalid   *generators.InvalidError // of the current question's last answer
	postponed map[string]bool
	parked    *runlog.Parked // why the run can't go on; nil if it can
	reviews   bool           // the latest reply of a model is returned by a person
	stopping  bool
}

// A reply is what became of asking a question.
type reply struct {
	question *Question
	answer   runs.Answer
	err      error
}

type batch struct {
	entries []runlog.Entry
	err     error
}

// errSettledElsewhere is the cause with which a question is no longer asked.
var errSettledElsewhere = errors.New("the question was settled elsewhere")

// errParked is the cause with which a question is no longer asked whose run is parked.
var errParked = errors.New("the run is parked")

// Follow follows a run until it ends, and returns how. The error is an [*UnansweredError],
// [ErrLeft], [ErrInterrupted], that of an invalid prepared answer, or that of the
// connection.
func (s *Session) Follow(ctx context.Context, id string) (*runlog.Finished, error) {
	s.id, s.replies, s.postponed = id, make(chan reply), make(map[string]bool)
	stream, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer s.endAsk(context.Canceled)
	batches := s.read(stream, id)
	interrupted := ctx.Done()
	for {
		select {
		case b, ok := <-batches:
			if !ok {
				return nil, ErrStreamEnded
			}
			if finished, err := s.apply(stream, b); finished != nil || err != nil {
				return finished, err
			}
		case r := <-s.replies:
			if err := s.handleReply(stream, r); err != nil {
				return nil, err
			}
		case <-interrupted:
			interrupted = nil
			if errors.Is(context.Cause(ctx), ErrHungUp) && !s.Ends {
				s.endAsk(ErrInterrupted)
				return nil, ErrInterrupted
			}
			if err := s.interrupt(stream); err != nil {
				return nil, err
			}
		}
	}
}

// read reads the run's entries into a channel.
func (s *Session) read(ctx context.Context, id string) <-chan batch {
	batches := make(chan batch)
	go func() {
		defer close(batches)
		for entries, err := range s.Runs.Follow(ctx, id, 0) {
			select {
			case batches <- batch{entries, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return batches
}

// interrupt stops the run the first time, or leaves it.
func (s *Session) interrupt(ctx context.Context) error {
	s.endAsk(ErrInterrupted)
	if !s.StopOnInterrupt || s.stopping {
		return ErrInterrupted
	}
	s.stopping = true
	s.note("Stopping the run. Press Ctrl-C again to leave at once.")
	return s.Runs.Cancel(ctx, s.id)
}

func (s *Session) note(text string) {
	if s.View != nil {
		s.View.line(s.View.style.Paint(render.Faint, text))
		s.View.screen.Flush()
	}
}

// apply shows entries, and asks the questions that are open after them.
func (s *Session) apply(ctx context.Context, b batch) (*runlog.Finished, error) {
	if b.err != nil {
		return nil, b.err
	}
	if s.Each != nil {
		if err := s.Each(b.entries); err != nil {
			return nil, err
		}
	}
	var last runlog.Entry
	for i := range b.entries {
		last = b.entries[i]
		if err := s.applyEntry(&b.entries[i]); err != nil {
			return nil, err
		}
	}
	if s.View != nil {
		s.View.screen.Flush()
	}
	if last.Kind == runlog.KindFinished {
		finished, err := runlog.Decode[runlog.Finished](last)
		return &finished, err
	}
	if last.Seq < s.Known {
		return nil, nil
	}
	return nil, s.askNext(ctx)
}

func (s *Session) applyEntry(e *runlog.Entry) error { return e.Visit(sessionEntries{s.show, s}) }

// show shows an entry that the session takes no notice of.
func (s *Session) show(e runlog.Entry) error {
	if s.View != nil {
		s.View.show(&e)
	}
	return nil
}

// sessionEntries visits the entries of the run: those about questions change the session, and
// the view shows the rest.
type sessionEntries struct {
	runlog.Rest
	session *Session
}

func (s sessionEntries) Started(e runlog.Entry, started runlog.Started) error {
	s.session.photon = started.Photon
	return s.session.show(e)
}

// Parked asks nothing until a program comes that fits the run.
func (s sessionEntries) Parked(e runlog.Entry, p runlog.Parked) error {
	s.session.parked = &p
	s.session.endAsk(errParked)
	return s.session.show(e)
}

func (s sessionEntries) Claimed(e runlog.Entry, _ runlog.Claimed) error {
	s.session.parked = nil
	return s.session.show(e)
}

func (s sessionEntries) Asked(e runlog.Entry, _ runlog.Asked) error {
	return errors.Join(s.session.show(e), s.session.addQuestion(&e))
}

func (s sessionEntries) Answered(_ runlog.Entry, a runlog.Answered) error {
	s.session.settle(a.AskSeq, func(v *View, q *Question) { v.showAnswer(q, &a, s.session.Watch) })
	return nil
}

func (s sessionEntries) Sampling(_ runlog.Entry, d runlog.Sampling) error {
	s.session.applySampling(&d)
	return nil
}

func (s sessionEntries) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error {
	s.session.settle(w.AskSeq, func(v *View, q *Question) { v.showWithdrawal(q, &w) })
	return nil
}
