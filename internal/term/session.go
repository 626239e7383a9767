package term

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
)

// Runs is what a session needs of a Beam. Package runs implements it.
type Runs interface {
	Follow(ctx context.Context, id string, after uint64) iter.Seq2[[]runlog.Entry, error]
	Answer(ctx context.Context, askID string, a runs.Answer) error
	Cancel(ctx context.Context, id string) error
	Ask(ctx context.Context, id string) (engine.OpenAsk, error)
	Models(ctx context.Context, askID string) (sampling.Description, error)
	Approve(ctx context.Context, askID, model string) error
}

// A Question is an open question.
type Question struct {
	*ask.Question
	ID       string // of the ask
	Key      string
	Deadline time.Time // zero if there is none
	// Ends says that leaving the question ends the run.
	Ends bool
	// Models are the models that a question to a model can be sent to.
	Models []sampling.ModelDescription
}

// An Asker asks a person.
type Asker interface {
	// Ask returns the person's answer, and shows what was wrong with the previous one. The
	// error is [ErrParked], [ErrLeft], [ErrInterrupted], or ctx's when the question is
	// settled elsewhere.
	Ask(ctx context.Context, q *Question, invalid *generators.InvalidError) (runs.Answer, error)
}

// The ways in which a question, or a run, is left.
var (
	// ErrParked leaves the question open and follows the run.
	ErrParked = errors.New("the question stays open")
	// ErrLeft leaves the question open and the run.
	ErrLeft = errors.New("the run was left")
	// ErrInterrupted means that the person pressed Ctrl-C.
	ErrInterrupted = errors.New("interrupted")
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

	id        string
	open      []*Question // not settled
	current   *Question   // being asked; nil if none
	cancelAsk context.CancelCauseFunc
	replies   chan reply
	invalid   *generators.InvalidError // of the current question's last answer
	parked    map[string]bool
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

// Follow follows a run until it ends, and returns how. The error is an [*UnansweredError],
// [ErrLeft], [ErrInterrupted], that of an invalid prepared answer, or that of the
// connection.
func (s *Session) Follow(ctx context.Context, id string) (*runlog.Finished, error) {
	s.id, s.replies, s.parked = id, make(chan reply), make(map[string]bool)
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
		s.View.line(s.View.style.paint(faint, text))
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

func (s *Session) applyEntry(e *runlog.Entry) error {
	switch e.Kind {
	case runlog.KindAsked:
		asked, err := runlog.Decode[runlog.Asked](*e)
		if err != nil || asked.Question == nil {
			return err
		}
		q := &Question{Question: asked.Question, ID: runlog.AskID(s.id, e.Seq), Key: asked.Key, Deadline: asked.Deadline, Ends: s.Ends}
		s.open = append(s.open, q)
		if s.Watch && s.View != nil {
			s.View.screen.Print(q.heading(s.View.style, s.View.screen.width()))
		}
		return nil
	case runlog.KindAnswered:
		a, err := runlog.Decode[runlog.Answered](*e)
		if err == nil {
			s.settle(a.AskSeq, func(v *View, q *Question) { v.showAnswer(q, &a) })
		}
		return err
	case runlog.KindSampling:
		d, err := runlog.Decode[runlog.Sampling](*e)
		if err == nil {
			s.applySampling(&d)
		}
		return err
	case runlog.KindWithdrawn:
		w, err := runlog.Decode[runlog.Withdrawn](*e)
		if err == nil {
			s.settle(w.AskSeq, func(v *View, q *Question) { v.showWithdrawal(q, &w) })
		}
		return err
	}
	if s.View != nil {
		s.View.show(e)
	}
	return nil
}

// settle removes a question, and shows how it was settled.
func (s *Session) settle(seq uint64, show func(*View, *Question)) {
	id := runlog.AskID(s.id, seq)
	i := slices.IndexFunc(s.open, func(q *Question) bool { return q.ID == id })
	if i < 0 {
		return
	}
	q := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	if s.current == q {
		s.endAsk(errSettledElsewhere)
	}
	if s.View != nil {
		show(s.View, q)
	}
}

// endAsk stops asking the current question, and waits until the terminal is free.
func (s *Session) endAsk(cause error) {
	if s.current == nil {
		return
	}
	s.current, s.invalid = nil, nil
	s.cancelAsk(cause)
	<-s.replies
	if s.View != nil {
		s.View.screen.Release()
	}
}

// askNext asks the first question that is open, unless one is being asked.
func (s *Session) askNext(ctx context.Context) error {
	if s.Watch || s.stopping {
		return nil
	}
	for s.current == nil {
		i := slices.IndexFunc(s.open, func(q *Question) bool { return !s.parked[q.ID] })
		if i < 0 {
			return nil
		}
		if err := s.ask(ctx, s.open[i]); err != nil {
			return err
		}
	}
	return nil
}

// ask answers a question with what is prepared, or begins to ask the person. It leaves a
// question open that others are to answer.
func (s *Session) ask(ctx context.Context, q *Question) error {
	if len(q.From) > 0 || q.NotCaller {
		open, err := s.Runs.Ask(ctx, q.ID)
		if err == nil && open.Excluded {
			s.parked[q.ID] = true
			s.note("Waits for " + open.For + " to answer: " + q.Message)
			return nil
		}
	}
	if s.Prepared != nil {
		a, found, err := s.Prepared.find(q)
		if err == nil && found {
			s.parked[q.ID] = true // until the log says so
			err = s.Runs.Answer(ctx, q.ID, a)
			if errors.Is(err, engine.ErrSettled) {
				err = nil
			}
			var invalid *generators.InvalidError
			if errors.As(err, &invalid) {
				err = &InvalidAnswerError{q.Key, invalid}
			}
			return err
		}
		if err != nil {
			return &InvalidAnswerError{q.Key, err}
		}
	}
	if s.Asker == nil {
		return &UnansweredError{Question: q}
	}
	s.beginAsk(ctx, q)
	return nil
}

// An InvalidAnswerError means that a prepared answer isn't valid.
type InvalidAnswerError struct {
	Key string
	Err error
}

func (e *InvalidAnswerError) Error() string { return e.Err.Error() }
func (e *InvalidAnswerError) Unwrap() error { return e.Err }

// beginAsk asks the person in a goroutine.
func (s *Session) beginAsk(ctx context.Context, q *Question) {
	if q.Kind == ask.KindSample && q.Models == nil {
		if d, err := s.Runs.Models(ctx, q.ID); err == nil { // otherwise the person can still answer
			q.Models = fitModels(d)
		}
	}
	rendered := runlog.RenderedNothing
	if s.View != nil {
		if s.invalid == nil {
			rendered = s.View.ShowEvidence(q)
		}
		s.View.screen.Hold()
	}
	ctx, s.cancelAsk = context.WithCancelCause(ctx)
	s.current = q
	invalid := s.invalid
	go func() {
		a, err := s.Asker.Ask(ctx, q, invalid)
		a.Rendered = rendered
		s.replies <- reply{q, a, err}
	}()
}

// record records the person's answer, or sends the question to the model that the person
// has chosen.
func (s *Session) record(ctx context.Context, r reply) error {
	if r.answer.Model != "" {
		return s.Runs.Approve(ctx, r.question.ID, r.answer.Model)
	}
	return s.Runs.Answer(ctx, r.question.ID, r.answer)
}

// fitModels returns the models that can take a request.
func fitModels(d sampling.Description) []sampling.ModelDescription {
	return slices.DeleteFunc(slices.Clone(d.Models), func(m sampling.ModelDescription) bool { return m.Unfit != "" })
}

// applySampling shows what a model replies. A question whose call has failed is asked
// again.
func (s *Session) applySampling(d *runlog.Sampling) {
	if d.Ended != nil && d.Ended.Result == nil {
		delete(s.parked, runlog.AskID(s.id, d.AskSeq))
	}
	if s.View != nil {
		s.View.showSampling(d)
	}
}

// handleReply records the person's answer. If it isn't valid, it asks again.
func (s *Session) handleReply(ctx context.Context, r reply) error {
	s.current, s.invalid = nil, nil
	s.cancelAsk(nil)
	if s.View != nil {
		s.View.screen.Release()
	}
	switch {
	case r.err == nil:
	case errors.Is(r.err, ErrInterrupted):
		return s.interrupt(ctx)
	case errors.Is(r.err, ErrParked):
		s.parked[r.question.ID] = true
		s.note(fmt.Sprintf("The question stays open. Answer it on the page or in another terminal: answer %s", r.question.ID))
		return s.askNext(ctx)
	default:
		return r.err
	}
	err := s.record(ctx, r)
	var invalid *generators.InvalidError
	switch {
	case errors.As(err, &invalid):
		s.invalid = invalid
		s.beginAsk(ctx, r.question)
		return nil
	case errors.Is(err, engine.ErrSettled): // the log says by whom
		err = nil
	}
	s.parked[r.question.ID] = true // until the log says so
	if err != nil {
		return err
	}
	return s.askNext(ctx)
}
