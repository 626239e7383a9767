// Package sampling puts a person between tools that ask a model and the models that are
// configured: it sends a question to a model once a person has approved it, records the
// reply as it arrives, and returns it. What happens is in the run's log, as entries of
// the kind [runlog.KindSampling], so that every page shows the same and a restart loses
// nothing.
//
// MCP deprecates sampling from 2026-07-28 on (SEP-2577). Nothing but the pages and
// package app use this package.
package sampling

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
)

// A Meter is told of each call that has ended. Outcome is one of the constants below. It
// may be called from several goroutines.
type Meter interface {
	ModelCalled(photon, outcome string, inputTokens, outputTokens int)
}

// The outcomes of calls.
const (
	OutcomeReplied = "replied"
	OutcomeFailed  = "failed"
	OutcomeStopped = "stopped" // by a person, or because the question was settled
)

// A Config says what a [Service] needs. Engine, Models and State are required.
type Config struct {
	Engine *engine.Engine
	Models *llm.Models
	Meter  Meter            // nil for none
	Logger *slog.Logger     // nil discards
	State  smallstate.Store // keeps what models were used for
	// Shared keeps the standing approvals, for all processes that share it; nil if there is only
	// this one, with which they end.
	Shared  smallstate.Store
	Replica Replica // nil if there is only this process
}

// A Service calls models. Its methods may be called from several goroutines.
type Service struct {
	engine  *engine.Engine
	models  *llm.Models
	meter   Meter
	logger  *slog.Logger
	replica Replica // nil if there is only this process

	ctx    context.Context // of all calls
	cancel context.CancelCauseFunc
	calls  sync.WaitGroup

	begins sync.RWMutex // held for reading while a call begins

	mu       sync.Mutex
	running  map[string]*call         // by question
	deciding map[string]chan struct{} // by question; closed when standing approvals have been tried
	closed   bool

	standing smallstate.Bucket
	usage    smallstate.Bucket
	since    time.Time  // when counting began, unless the bucket says that
	counting sync.Mutex // held while something is counted
}

// New returns a service. It takes effect before the engine recovers its runs; call
// [Service.Resume] after that.
func New(c Config) *Service {
	s := &Service{engine: c.Engine, models: c.Models, meter: c.Meter, logger: c.Logger, running: make(map[string]*call), deciding: make(map[string]chan struct{}), since: time.Now(), usage: smallstate.Bucket{Store: c.State, Name: UsageBucket}}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if c.Shared == nil {
		c.Shared = smallstate.NewMemory()
	}
	s.standing, s.replica = smallstate.Bucket{Store: c.Shared, Name: "standing-approvals"}, c.Replica
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.engine.OnSample(s.handleQuestion)
	return s
}

// Models returns the configured models; nil if the receiver is nil.
func (s *Service) Models() *llm.Models {
	if s == nil {
		return nil
	}
	return s.models
}

// Close ends all calls without recording their end, and waits until that is done. The
// next process goes on with them. The engine may be closed before. The receiver may be
// nil.
func (s *Service) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errClosing)
	s.calls.Wait()
}

// Causes of the end of a call.
var (
	errClosing = errors.New("this Beam is shutting down")
	errSettled = errors.New("the question has been settled")
	errStopped = errors.New("a person has stopped the call")
)

// The errors of the service's methods, besides the engine's. Their texts are for people.
var (
	ErrNotForModel = errors.New("this question is not for a model")
	ErrNoReply     = errors.New("there is no reply to return")
	ErrNotReplying = errors.New("no model is replying")
	ErrNoModel     = errors.New("there is no such model")
	ErrNoStanding  = errors.New("there is no such standing approval")
)

// openSample returns an open question to a model.
func (s *Service) openSample(ctx context.Context, caller generators.Caller, askID string) (engine.OpenAsk, error) {
	open, err := s.engine.OpenAsk(ctx, caller, askID)
	if err == nil && (open.Question.Kind != askdata.KindSample || open.Question.Sample == nil) {
		err = ErrNotForModel
	}
	return open, err
}

// State returns what the log says about a question to a model, once it is known whether a
// standing approval covers it. The error is the engine's.
func (s *Service) State(ctx context.Context, caller generators.Caller, askID string) (*State, error) {
	s.awaitDecision(ctx, askID)
	state := NewState()
	run, seq, ok := runlog.SplitAskID(askID)
	if !ok {
		return nil, engine.ErrAskNotFound
	}
	batches, err := s.engine.Read(ctx, caller, run, seq)
	if err != nil {
		return nil, err
	}
	for batch, err := range batches {
		if err != nil {
			return nil, err
		}
		for _, e := range batch {
			if e.Kind != runlog.KindSampling {
				continue
			}
			d, err := runlog.Decode[runlog.Sampling](e)
			if err != nil {
				return nil, err
			}
			if d.AskSeq == seq {
				state.Apply(e.Time, d)
			}
		}
	}
	return state, nil
}

// A Replica is this process among those that share a log; see package sharing.
type Replica interface {
	ID() string
	// Holds reports whether a process, of that ID, is this one or gone.
	Holds(ctx context.Context, worker string) bool
}

// resumeEvery is how often the calls of processes are looked for that are gone.
const resumeEvery = 5 * time.Second

// Resume goes on with the calls that the end of an earlier process cut, and returns
// replies that it received and did not return. If several processes share the log, that of
// others goes on until the service closes, once they are gone.
func (s *Service) Resume() {
	s.resume()
	if s.replica == nil {
		return
	}
	s.calls.Go(func() {
		tick := time.NewTicker(resumeEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.resume()
			case <-s.ctx.Done():
				return
			}
		}
	})
}

// isCut reports whether the process that makes a call is gone.
func (s *Service) isCut(worker string) bool {
	return s.replica == nil || worker != s.replica.ID() && s.replica.Holds(s.ctx, worker)
}

func (s *Service) resume() {
	operator := callers.Operator()
	for id, err := range s.engine.SamplingAsks() {
		var state *State
		if err == nil {
			state, err = s.State(s.ctx, operator, id)
		}
		if err == nil {
			err = s.resumeCall(operator, id, state)
		}
		if err != nil && !errors.Is(err, engine.ErrSettled) && !errors.Is(err, engine.ErrParked) && !errors.Is(err, engine.ErrSamplingChanged) {
			s.logger.Error("going on with a call of a model", "ask", id, "err", err)
		}
	}
}

func (s *Service) resumeCall(operator generators.Caller, id string, state *State) error {
	switch {
	case !s.isCut(state.Approval.Worker):
		return nil
	case state.Phase == Replied && !state.Approval.Review:
		return s.engine.Answer(s.ctx, approver(state.Approval), id, acceptResult(*state.End.Result), Surface)
	case state.Phase != Replying:
		return nil
	}
	again := state.Approval
	again.Repeats = state.Call
	body, why := s.repeatBody(operator, id, state)
	cut := runlog.EndOfSampling{Error: "Beam was restarted while the model replied. " + why, OutputTokens: llm.EstimateText(state.Text()), Estimated: true}
	if _, err := s.engine.RecordSampling(s.ctx, operator, id, runlog.Sampling{Call: state.Call, Ended: &cut}); err != nil || body == nil {
		return err
	}
	c, err := s.begin(operator, id, 0, again, body, noStanding)
	if err != nil {
		return err
	}
	go c.run()
	return nil
}

// repeatBody returns the bytes of a request that was cut, if they may be sent again, and a
// sentence that says so. A request is repeated once.
func (s *Service) repeatBody(operator generators.Caller, id string, state *State) (body []byte, why string) {
	a := state.Approval
	model := s.models.Lookup(a.Model)
	open, err := s.openSample(s.ctx, operator, id)
	switch {
	case a.Repeats > 0:
		return nil, "The request was sent twice. Approve it once more, or answer it yourself."
	case model == nil || model.Endpoint != a.Endpoint || model.ID != a.ID:
		return nil, "The model is no longer configured as it was. Choose another one."
	case err != nil:
		return nil, ""
	case open.Parked != nil:
		return nil, "The run is parked. Approve the request again when it goes on."
	}
	body, err = model.Encode(requestOf(open, a, model))
	if err != nil || digest(body) != a.Digest {
		return nil, "This version of Beam would send something else. Approve the request again."
	}
	return body, "The same request is sent again."
}
