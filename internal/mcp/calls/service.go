// Package calls serves tools/call, and the requests about tasks, by following the log of
// their run, so that a call that waits for a person holds neither a worker nor a lock.
//
// A call has a [run], and a follower that tells its client what the run's log says: for
// clients up to 2025-11-25 as a [directCall] says, for modern ones as a [roundTrip] says.
// Both are made of the same parts: a questionSender, the unaskedQuestions, a waitClock, a
// progressCounter and so on. A call's origin says whether it has started its run, resumed
// it, or asks the questions of a task.
package calls

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/recording"
)

// Config configures a service. All fields but SignInHint and those of Chat are required.
type Config struct {
	Engine  *engine.Engine
	Photons *generators.Registry
	Sealer  *requeststate.Sealer
	Tasks   *tasks.Service
	Policy  AskPolicy
	Chat    Chat
	// SignInHint is a sentence that says how the user signs in to Beam's pages, for the
	// results that hold their addresses; empty for none.
	SignInHint string
	// Server identifies the server to clients.
	Server mcp.Implementation
	// FindTool returns the photon that a tool calls, whoever may use it. It may be set
	// after NewService.
	FindTool func(name string) (*generators.Photon, bool)
	// MapUI returns the function that maps the ui:// addresses of what a photon returns;
	// nil if its clients use the upstream's own.
	MapUI  func(*generators.Photon) func(uri string) string
	Logger *slog.Logger
}

// A Service serves calls. Its methods may be called concurrently.
type Service struct {
	config     *Config
	view       *apps.Tools
	lastNumber atomic.Uint32 // see run.number
}

// NewService returns a service.
func NewService(c *Config) *Service {
	s := &Service{config: c}
	s.lastNumber.Store(rand.Uint32N(math.MaxUint32 / 2)) // a client may still know numbers of an earlier process
	if c.Chat.View != nil {
		s.view = apps.NewTools(c.Engine, c.Photons, c.Chat.View, c.Chat.Marks, c.Chat.Policy, c.Logger)
	}
	return s
}

// IsBeamTool reports whether name is that of a tool for runs whose calls were handed off,
// and calls may be; or that of a tool of the view, and there is one.
func (c *Config) IsBeamTool(name string) bool {
	return (name == ResumeTool || name == CancelTool) && c.Policy.AllowsHandoff() || apps.IsTool(name) && c.Chat.View != nil
}

// SweepMarks removes what the view remembers of runs that have been deleted.
func (s *Service) SweepMarks(ctx context.Context) {
	if s.view != nil {
		s.view.SweepMarks(ctx)
	}
}

// ServeToolCall serves tools/call.
func (s *Service) ServeToolCall(r *session.Request, answer func(requests.Reply)) {
	name := r.Params.Name
	switch isOwn := s.config.IsBeamTool(name); {
	case name == "":
		answer(r.Error(msg.Errorf(mcp.INVALID_PARAMS, "tools/call requires a name; arguments must be an object")))
	case isOwn && !apps.IsTool(name):
		r.Session.RunBlocking(func() { s.serveBeamTool(r, answer) }) // which reads the logs of runs
	case isOwn && s.config.Chat.IsUsedBy(r.Session, r.Client):
		r.Session.RunBlocking(func() { answer(s.serveViewTool(r)) })
	default:
		s.servePhoton(r, answer)
	}
}

// servePhoton serves a call of a photon.
func (s *Service) servePhoton(r *session.Request, answer func(requests.Reply)) {
	var photon *generators.Photon
	if p, ok := s.config.FindTool(r.Params.Name); ok {
		photon, _ = s.config.Engine.LookupPhoton(r.Client.Caller, p.Name())
	}
	if photon == nil {
		answer(r.Error(msg.Errorf(mcp.INVALID_PARAMS, "unknown tool: %q", r.Params.Name)))
		return
	}
	if r.InFlight.Cause() != nil { // before the run was started
		answer(requests.Reply{})
		return
	}
	decision, refused := s.decideTask(r, photon)
	start := start{
		name: r.Params.Name, args: r.Params.Arguments, photon: photon, decision: decision,
		hasToolResult: !decision.IsTask || r.Client.IsModern(),
	}
	newCall := func(run *run) (*call, func(requests.Reply)) {
		c := s.newCall(r, run, startedRun{run}, toolResult)
		c.allowHandoff(s.leaveTimes(decision), IsShownInChat(photon))
		c.handoffs.isPromised = func() bool { return s.config.GuaranteedOutputSchema(r.Session, r.Client, photon) != nil }
		c.presence = start.presence
		return c, answer
	}
	switch {
	case refused != nil:
		answer(r.Error(refused))
	case decision.IsTask:
		r.Session.RunBlocking(func() { answer(s.createTask(r, start)) })
	default:
		s.serveCall(r, &start, answer, newCall)
	}
}

// serveCall starts a run, or continues one, and follows it as the call that newCall makes.
func (s *Service) serveCall(r *session.Request, start *start, answer func(requests.Reply), newCall func(*run) (*call, func(requests.Reply))) {
	if r.Client.IsModern() {
		r.Session.RunBlocking(func() { s.serveRoundTrip(r, *start, answer, newCall) })
		return
	}
	start.presence = new(clientsession.Presence) // modern clients come back whenever they want
	s.startDirectly(r, *start, answer, func(run *run) {
		c, answer := newCall(run)
		c.followDirectly(r, startEntry, false, run.recordReplies(answer))
	})
}

// leaveTimes returns when a call that has started its run ends although the run goes on.
func (s *Service) leaveTimes(d tasks.Decision) leaveTimes {
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
func (s *Service) startRun(ctx context.Context, r *session.Request, start start) (*run, error) {
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
	r.Sender.SetResumeCursor(run.cursor(0))
	return run, nil
}

// runClient returns what a run may know of its client. With [AskPolicy.Link], whatever the
// client can't be asked is asked elsewhere; without it, nobody else is asked.
func (s *Service) runClient(r *session.Request, presence *clientsession.Presence) *clientsession.Client {
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
func (s *Service) photonOf(info engine.Info) *generators.Photon {
	if p, ok := s.config.Photons.Lookup(info.Photon); ok {
		return p
	}
	return msg.PlaceholderPhoton(info.Photon)
}

// newRun returns the run of a request's call.
func (s *Service) newRun(r *session.Request, photon *generators.Photon, id string) *run {
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
func (s *Service) replies(r *session.Request, f resultFormat) replies {
	return replies{id: r.ID(), client: r.Client, server: s.config.Server, format: f}
}

// newCall returns a call of a run. It never ends before the run does.
func (s *Service) newCall(r *session.Request, run *run, o origin, f resultFormat) *call {
	c := &call{run: run, origin: o, replies: s.replies(r, f), session: r.Session, policy: s.config.Policy}
	c.questions = questionSender{run: run, session: r.Session, outlet: &c.outlet, clock: &c.clock, leavesFailed: s.config.Policy.Link}
	c.unasked = unaskedQuestions{run: run, links: s.config.Policy.Link}
	c.handoffs = handoffs{run: run, signInHint: s.config.SignInHint, hasView: s.config.Chat.IsUsedBy(r.Session, r.Client)}
	return c
}

// allowHandoff lets a call end before its run does. If isShown, its view asks the questions
// that the client can't be asked by elicitation.
func (c *call) allowHandoff(l leaveTimes, isShown bool) {
	c.leave = l
	c.handoffs.inChat = isShown && c.handoffs.hasView
	c.unasked.inChat = c.handoffs.inChat
}
