package term

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

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

// addQuestion adds an open question.
func (s *Session) addQuestion(e *runlog.Entry) error {
	asked, err := runlog.Decode[runlog.Asked](*e)
	if err != nil || asked.Question == nil {
		return err
	}
	q := &Question{Question: asked.Question, asked: asked.Question, ID: runlog.AskID(s.id, e.Seq), Key: asked.Key, Photon: s.photon, Deadline: asked.Deadline, Lost: asked.LostNote(), Ends: s.Ends}
	s.open = append(s.open, q)
	if asked.Taken { // it gets the answer of an earlier run
		s.postponed[q.ID] = true
	}
	if s.Watch && s.View != nil {
		s.View.ShowEvidence(q)
		s.View.screen.Print(q.heading(s.View.style, s.View.screen.width()))
	}
	return nil
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

// askNext asks the first question that is open, unless one is being asked, or the run is parked. If
// nobody can be asked, nobody waits for a program that fits.
func (s *Session) askNext(ctx context.Context) error {
	if s.Watch || s.stopping {
		return nil
	}
	if s.parked != nil && s.Asker == nil {
		return &engine.ParkedError{Parked: s.parked}
	}
	for s.current == nil && s.parked == nil {
		i := slices.IndexFunc(s.open, func(q *Question) bool { return !s.postponed[q.ID] })
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
			s.postponed[q.ID] = true
			s.note(open.WaitsFor() + ": " + message.LineSaidBy(q.Question, q.Photon))
			return nil
		}
	}
	if s.Prepared != nil {
		if done, err := s.answerPrepared(ctx, q); done || err != nil {
			return err
		}
	}
	if s.loadModels(ctx, q) == sampling.Replying { // by a standing approval, or somebody's elsewhere
		s.postponed[q.ID] = true // until the model fails
		return nil
	}
	if s.Asker == nil {
		return &UnansweredError{Question: q}
	}
	s.beginAsk(ctx, q)
	return nil
}

// answerPrepared answers a question with what is prepared, and reports whether anything is.
func (s *Session) answerPrepared(ctx context.Context, q *Question) (done bool, err error) {
	a, found, err := s.Prepared.find(q)
	if err != nil {
		return false, &InvalidAnswerError{q.Key, err}
	}
	if !found {
		return false, nil
	}
	if a.Approve != nil {
		if s.loadModels(ctx, q); len(q.Models) == 0 {
			return false, &InvalidAnswerError{q.Key, fmt.Errorf("--approve %s: no model is configured that can take the request (--models)", q.Key)}
		}
	}
	s.postponed[q.ID] = true // until the log says so
	err = s.record(ctx, reply{question: q, answer: a})
	var invalid *generators.InvalidError
	switch {
	case errors.Is(err, engine.ErrSettled), errors.Is(err, engine.ErrSamplingChanged): // the log says by whom, or how
		return true, nil
	case errors.As(err, &invalid):
		return true, &InvalidAnswerError{q.Key, preparedError(q, invalid)}
	case err != nil && a.Approve != nil:
		return true, &InvalidAnswerError{q.Key, fmt.Errorf("--approve %s: %w", q.Key, err)}
	}
	return true, err
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
	if r.answer.Approve != nil {
		return s.Runs.Approve(ctx, r.question.ID, *r.answer.Approve)
	}
	return s.Runs.Answer(ctx, r.question.ID, r.answer)
}

// loadModels finds out which models a question can be sent to, and where it stands. If that
// fails, the person can still answer.
func (s *Session) loadModels(ctx context.Context, q *Question) sampling.Phase {
	if q.Kind != askdata.KindSample {
		return ""
	}
	d, err := s.Runs.Models(ctx, q.ID)
	if errors.Is(err, engine.ErrSettled) { // by a standing approval; the log says so
		return sampling.Replying
	}
	if err != nil {
		return ""
	}
	q.SetSampling(d)
	return d.Phase
}

// applySampling shows what a model replies. A form ends that asks what the model has been
// asked elsewhere. A question whose call has failed is asked again.
func (s *Session) applySampling(d *runlog.Sampling) {
	id := runlog.AskID(s.id, d.AskSeq)
	switch {
	case d.Approved != nil:
		for _, q := range s.open {
			if q.ID == id {
				q.revise(d.Approved.Request)
			}
		}
		s.reviews = d.Approved.Review
		s.postponed[id] = true
		if s.current != nil && s.current.ID == id {
			s.endAsk(errSettledElsewhere)
		}
	case d.Ended != nil && (d.Ended.Result == nil || s.reviews && s.Asker == nil):
		delete(s.postponed, id)
	case d.Ended != nil && s.reviews:
		defer s.note("The reply waits on the page of the question, where it can be read, changed and returned.")
	}
	if s.View != nil {
		s.View.showSampling(d)
	}
}

// describePostponed says where a question can be answered that was left open here.
func (s *Session) describePostponed(q *Question) string {
	if s.HowToAnswer == nil {
		return "The question stays open, until the run ends."
	}
	return "The question stays open. Answer it on the page, or in another terminal: " + s.HowToAnswer(q.ID)
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
	case errors.Is(r.err, ErrPostponed):
		s.postponed[r.question.ID] = true
		s.note(s.describePostponed(r.question))
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
	case errors.Is(err, engine.ErrParked): // the log says why
		s.parked = cmp.Or(s.parked, &runlog.Parked{})
		return nil
	case errors.Is(err, engine.ErrSamplingChanged): // the log says how, and then it is asked again
		s.note("Your decision was not sent: " + err.Error() + ".")
		err = nil
	}
	s.postponed[r.question.ID] = true // until the log says so
	if err != nil {
		return err
	}
	return s.askNext(ctx)
}
