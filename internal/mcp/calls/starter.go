package calls

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/recording"
)

// A starter starts the runs of calls, and makes the calls of runs.
type starter struct {
	config     *Config
	lastNumber atomic.Uint32 // see run.number
}

// serveCall starts a run, or continues one, and follows it as the call that newCall makes.
func (s *starter) serveCall(r *session.Request, start *start, answer func(requests.Reply), newCall func(*run) (*call, func(requests.Reply))) {
	if r.Client.IsModern() {
		r.Session.RunBlocking(func() { s.serveRoundTrip(r, *start, answer, newCall) })
		return
	}
	if !s.config.Policy.Link {
		start.presence = new(clientsession.Presence) // modern clients come back whenever they want
	}
	s.startDirectly(r, *start, answer, func(run *run) {
		c, answer := newCall(run)
		c.followDirectly(r, startEntry, false, run.recordReplies(answer))
	})
}

// leaveTimes returns when a call that has started its run ends although the run goes on.
func (s *starter) leaveTimes(d tasks.Decision) leaveTimes {
	l := leaveTimes{any: s.config.Policy.handoff()}
	if l.any > 0 || d.MayBecomeTask {
		l.unasked = linkHandoff
	}
	return l
}

// A start says how to start the run of a call.
type start struct {
	name       string // of the tool
	args       []byte
	photon     *generators.Photon
	isUnlisted bool // the photon is not registered
	decision   tasks.Decision
	presence   *clientsession.Presence // of the client; nil if it doesn't matter
	// hasToolResult reports whether the request's result is a tool's, which can say why
	// the run was not started.
	hasToolResult bool
}

// startEntry is the ordinal of the entry that a run begins with. The next one says whether
// it is queued.
const startEntry = 1

// startRun starts a run, which outlives ctx. The error is that of [engine.Engine.Start].
func (s *starter) startRun(ctx context.Context, r *session.Request, start start) (*run, error) {
	args := start.args
	if bytes.Equal(args, msg.Null) { // some clients send null for no arguments
		args = nil
	}
	request := engine.StartRequest{
		Photon: start.photon.Name(), Args: args, Surface: msg.Surface, Samples: r.Client.SupportsSampling(), RetainFor: start.decision.RetainFor,
		Client: s.runClient(r, start.presence), Received: r.Client.Observe(recording.In, r.Message.Raw),
	}
	if request.RetainFor > 0 {
		request.Surface = tasks.Surface
	}
	if start.isUnlisted {
		request.Unlisted = start.photon
	}
	info, err := s.config.Engine.Start(context.WithoutCancel(ctx), r.Client.Caller, request)
	if err != nil {
		return nil, err
	}
	run := s.newRun(r, start.photon, info.ID)
	s.addTicket(r, run)
	r.Sender.SetResumeCursor(run.cursor(0))
	return run, nil
}

// runClient returns what a run may know of its client. With [AskPolicy.Link], whatever the
// client can't be asked is asked elsewhere; without it, nobody else is asked.
func (s *starter) runClient(r *session.Request, presence *clientsession.Presence) *clientsession.Client {
	if s.config.Policy.Link {
		return r.Session.RunClient
	}
	c := r.Client
	mirrored := clientsession.Client{Presence: presence, Only: &clientsession.Abilities{
		Forms: c.SupportsForms(), URLs: c.SupportsURLs(), Roots: c.SupportsRoots(),
		Sampling: c.SupportsSampling(), SamplingTools: c.SupportsSamplingTools(),
	}}
	if known := r.Session.RunClient; known != nil {
		mirrored.Session, mirrored.Ended = known.Session, known.Ended
	}
	return &mirrored
}

// photonOf returns the photon of a run, or what stands for one that is no longer registered.
func (s *starter) photonOf(info engine.Info) *generators.Photon {
	if p, ok := s.config.Photons.Lookup(info.Photon); ok {
		return p
	}
	return msg.PlaceholderPhoton(info.Photon)
}

// newRun returns the run of a request's call.
func (s *starter) newRun(r *session.Request, photon *generators.Photon, id string) *run {
	run := &run{
		engine: s.config.Engine, client: r.Client, photon: photon, id: id,
		progressToken: r.Params.Meta.ProgressToken, pages: r.Session.PageBaseURL, logger: s.config.Logger,
	}
	if photon != nil {
		run.mapUI = s.config.MapUI(photon)
	}
	return run
}

// replies returns what makes the replies of a request.
func (s *starter) replies(r *session.Request, f resultFormat) replies {
	return replies{id: r.ID(), client: r.Client, server: s.config.Server, format: f}
}

// newCall returns a call of a run. It never ends before the run does.
func (s *starter) newCall(r *session.Request, run *run, o origin, f resultFormat) *call {
	c := &call{run: run, origin: o, replies: s.replies(r, f), session: r.Session, policy: s.config.Policy, chat: &s.config.Chat}
	c.questions = questionSender{run: run, session: r.Session, outlet: &c.outlet, clock: &c.clock, origin: o, policy: s.config.Policy}
	c.unasked = unaskedQuestions{run: run, origin: o, policy: s.config.Policy}
	c.allowHandoff(leaveTimes{}, s.handoff(r, run, false, nil))
	return c
}

// allowHandoff lets a call end before its run does.
func (c *call) allowHandoff(l leaveTimes, h handoff) { c.leave, c.handoff, c.unasked.handoff = l, h, h }

// handoff returns how a call is handed off: to its view, if isShown and the client has one, or
// with the addresses of pages.
func (s *starter) handoff(r *session.Request, run *run, isShown bool, isPromised func() bool) handoff {
	h := pageHandoff{run, s.config.SignInHint, isPromised}
	if isShown && s.config.Chat.IsUsedBy(r.Session, r.Client) {
		return chatHandoff(h)
	}
	return h
}
