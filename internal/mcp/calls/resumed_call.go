package calls

import (
	"context"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/runlog"
)

// resume serves a call of [ResumeTool] with the handle of a run.
func (b *beamTools) resume(r *session.Request, info engine.Info, answer func(requests.Reply)) {
	if err := b.starter.config.Engine.ClearIdleTimeout(r.Client.Caller, info.ID); err != nil {
		answer(b.handleFailure(r, err))
		return
	}
	if _, ok := b.starter.config.Photons.Lookup(info.Photon); !ok && !info.State.Ended() { // of an ended run the log has the result
		answer(b.errorResult(r, "The tool "+info.Photon+" of this run is not available now. The run is waiting for it."))
		return
	}
	run := b.starter.newRun(r, b.starter.photonOf(info), info.ID)
	run.keepResult() // a restart of Beam forgets it
	forgetSettled(r.Session, info)
	run.number = b.starter.lastNumber.Add(1)
	b.starter.addTicket(r, run)
	digest := requeststate.DigestCall(r.Params.Name, r.Params.Arguments)
	if r.Client.IsModern() && r.Params.RequestState != "" {
		b.starter.continueRoundTrip(r, run.photon, digest, nil, answer, b.resumedCallOf(r, answer))
		return
	}
	run.recordReceived(r.Message.Raw)
	answer = run.recordReplies(answer)
	if r.InFlight.Cause() != nil {
		answer(requests.Reply{})
		return
	}
	if _, refused := tasks.Decide(&r.Client.Client, generators.TaskForbidden, r.Params.Name, r.Params.Task, false); refused != nil {
		answer(r.Error(refused))
		return
	}
	c := b.newResumedCall(r, run)
	if !r.Client.IsModern() {
		c.followDirectly(r, info.LastSeq, true, answer)
		return
	}
	t, f := b.starter.newRoundTrip(c, r, digest, nil)
	switch answered, done, err := t.rejoin(r.InFlight.NewContext()); {
	case err != nil:
		answer(f.fail(err))
	case done:
		answer(answered)
	default:
		f.follow(r.Session.Steps, t.askAtOnce, answer)
	}
}

// resumedCallOf returns what makes the call of a request that brings a requestState.
func (b *beamTools) resumedCallOf(r *session.Request, answer func(requests.Reply)) func(*run) (*call, func(requests.Reply)) {
	return func(run *run) (*call, func(requests.Reply)) { return b.newResumedCall(r, run), answer }
}

// newResumedCall returns a call that waits for a run which an earlier call has started.
func (b *beamTools) newResumedCall(r *session.Request, run *run) *call {
	o := resumedRun{run: run}
	if b.starter.config.Chat.IsUsedBy(r.Session, r.Client) {
		o.marks = b.starter.config.Chat.Marks
	}
	c := b.starter.newCall(r, run, o, toolResult)
	c.allowHandoff(leaveTimes{any: b.starter.config.Policy.handoff()}, b.starter.handoff(r, run, true, nil)) // its purpose is to wait
	return c
}

// resumedRun is the origin of a call of [ResumeTool]. The run goes on without it.
type resumedRun struct {
	anyRun
	run   *run
	marks *apps.Marks // nil if the client shows no view
}

var _ origin = resumedRun{}

// explainEnd adds to the error of an interrupted run what the client can do.
func (resumedRun) explainEnd(end runlog.Finished) runlog.Finished {
	if end.Status == runlog.Interrupted {
		end.Error = "This run was interrupted and can't be resumed: " + end.Error + ". Its questions are withdrawn. Call the tool itself again."
	}
	return end
}

// noteReturned records that the model has the run's result, so that no view tells it again.
func (o resumedRun) noteReturned(ctx context.Context) {
	if o.marks == nil {
		return
	}
	ctx = context.WithoutCancel(ctx) // the client may leave once it has the result
	for _, part := range []apps.Part{apps.Context, apps.Message} {
		if _, err := o.marks.Claim(ctx, o.run.id, part); err != nil {
			o.run.logger.Warn("recording that a model has a run's result", "run", o.run.id, "err", err)
		}
	}
}

// forgetSettled removes the settled questions of a run's earlier calls whose streams broke
// off, since no follower is left to remove them.
func forgetSettled(sess *session.Session, info engine.Info) {
	for _, other := range sess.Calls.All() {
		if c := other.(*call); c.run.id == info.ID && sess.Requests.Find(c.RequestID()) == nil {
			c.questions.forgetSettled(info)
		}
	}
}
