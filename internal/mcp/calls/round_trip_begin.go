package calls

import (
	"context"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/runlog"
)

// serveRoundTrip serves one request of a call: its first one, which starts the run, or one
// that continues it. follow serves the request, given its run.
func (s *starter) serveRoundTrip(r *session.Request, start start, answer func(requests.Reply), newCall func(*run) (*call, func(requests.Reply))) {
	digest := requeststate.DigestCall(start.name, start.args)
	task := s.futureTask(r, start)
	if r.Params.RequestState != "" {
		s.continueRoundTrip(r, start.photon, digest, task, answer, newCall)
		return
	}
	run, err := s.startRun(r.InFlight.NewContext(), r, start)
	if err != nil {
		answer(s.startFailure(r, start, err))
		return
	}
	c, answer := newCall(run)
	t, f := s.newRoundTrip(c, r, digest, task)
	t.earlyResponses, t.stream.last = r.Params.Responses, startEntry
	f.follow(r.Session.Steps, t.askAtOnce, run.recordReplies(answer))
}

// continueRoundTrip serves a request that continues a call.
func (s *starter) continueRoundTrip(r *session.Request, photon *generators.Photon, digest []byte, task *futureTask, answer func(requests.Reply), newCall func(*run) (*call, func(requests.Reply))) {
	state, err := s.config.Sealer.Open(r.Params.RequestState, r.Client.Caller.ID, digest)
	run := s.newRun(r, photon, state.Run)
	var info engine.Info
	if err == nil {
		info, err = run.reopen()
	}
	if err == nil && info.Parked != nil && len(r.Params.Responses) > 0 { // the client keeps its state, and may send it again
		err = &engine.ParkedError{Parked: info.Parked}
	}
	if err != nil {
		answer(s.stateFailure(r, run, err))
		return
	}
	run.recordReceived(r.Message.Raw)
	c, answer := newCall(run)
	answer = run.recordReplies(answer)
	t, f := s.newRoundTrip(c, r, digest, task)
	switch err := t.continueFrom(r.InFlight.NewContext(), info, r.Params, state); {
	case err != nil:
		answer(f.fail(err))
	case task != nil && task.afterAsking && len(t.openInputs) == 0:
		answer(t.becomeTask())
	default:
		f.follow(r.Session.Steps, t.askAtOnce, answer)
	}
}

// newRoundTrip returns the round trip of a request, and its follower.
func (s *starter) newRoundTrip(c *call, r *session.Request, digest []byte, task *futureTask) (*roundTrip, *follower) {
	stream, waiting := c.newStream(r.Sender, 0)
	t := &roundTrip{
		call: c, stream: stream, waiting: waiting, sealer: s.config.Sealer, digest: digest, task: task, openInputs: map[string]openInput{},
	}
	return t, &follower{call: c, stream: stream, handler: t, inFlight: r.InFlight}
}

// reopen returns the state of a run that goes on to be kept.
func (r *run) reopen() (engine.Info, error) {
	info, err := r.info()
	if errors.Is(err, engine.ErrRunNotFound) {
		return info, requeststate.ErrExpired
	}
	if err == nil {
		err = r.engine.ClearIdleTimeout(r.client.Caller, r.id)
	}
	return info, err
}

// stateFailure returns the reply for a request whose state can't be continued from.
func (s *starter) stateFailure(r *session.Request, run *run, err error) requests.Reply {
	if errors.Is(err, requeststate.ErrInvalid) || errors.Is(err, requeststate.ErrExpired) || errors.Is(err, engine.ErrParked) {
		return r.Error(msg.Errorf(mcp.INVALID_PARAMS, "%v", err))
	}
	return s.replies(r, toolResult).failure(err, run)
}

// continueFrom resumes a call from its requestState, and records the answers that came with
// it.
func (t *roundTrip) continueFrom(ctx context.Context, info engine.Info, p *requests.Params, state requeststate.State) error {
	if o, ok := t.call.origin.(startedRun); ok {
		t.call.origin = continuedRun{o}
	}
	t.call.asked.Store(true)
	if err := t.stream.catchUp(ctx, state.After); err != nil {
		return err
	}
	// The progress token may be the same in every round trip, so progress must keep rising.
	if state.ProgressSent {
		t.stream.state.Progress.RaiseTo(state.Progress)
	}
	for key, a := range state.Inputs {
		id := t.call.run.askID(a.Seq)
		i := slices.IndexFunc(info.Asks, func(o engine.OpenAsk) bool { return o.ID == id })
		if i < 0 {
			continue // it was settled, and the response has no effect
		}
		if err := t.addInput(ctx, key, a, info.Asks[i], p.Responses[key]); err != nil {
			return err
		}
	}
	return t.addUnasked(ctx, info, state)
}

// addUnasked adds the open questions that the state does not hold because the client can't
// be asked them.
func (t *roundTrip) addUnasked(ctx context.Context, info engine.Info, state requeststate.State) error {
	for _, o := range info.Asks {
		_, seq, _ := runlog.SplitAskID(o.ID)
		if _, asked := state.Inputs[o.Key]; asked || seq > state.After {
			continue
		}
		if err := t.addInput(ctx, o.Key, requeststate.Input{Seq: seq}, o, nil); err != nil {
			return err
		}
	}
	return nil
}

// rejoin joins a run that another call started, and collects its open questions. It returns
// the request's reply if that ends the request.
func (t *roundTrip) rejoin(ctx context.Context) (r requests.Reply, done bool, err error) {
	open, finished, err := t.stream.skipHistory(ctx)
	if finished != nil {
		return t.call.finish(ctx, t.stream, *finished), true, nil
	}
	for _, seq := range open {
		if err := t.handleQuestion(ctx, seq); err != nil {
			return r, true, err
		}
	}
	return r, false, err
}
