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
	"context"
	"log/slog"
	"math"
	"math/rand/v2"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/registry"
)

// Config configures a service. All fields but SignInHint and those of Chat are required.
type Config struct {
	Engine  *engine.Engine
	Photons *registry.Registry
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
	MapUI func(*generators.Photon) func(uri string) string
	// Shared reports that other processes serve the same sessions.
	Shared bool
	Logger *slog.Logger
}

// A Service serves calls. Its methods may be called concurrently.
type Service struct {
	config  *Config
	starter *starter
	tasks   *taskCalls
	own     *beamTools
	view    *apps.Tools // nil if there is none
}

// NewService returns a service.
func NewService(c *Config) *Service {
	starter := &starter{config: c}
	starter.lastNumber.Store(rand.Uint32N(math.MaxUint32 / 2)) // a client may still know numbers of an earlier process
	s := &Service{config: c, starter: starter, tasks: &taskCalls{starter}, own: &beamTools{starter}}
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
		r.Session.RunBlocking(func() { s.own.serve(r, answer) }) // which reads the logs of runs
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
	decision, refused := s.tasks.decide(r, photon)
	start := start{
		name: r.Params.Name, args: r.Params.Arguments, photon: photon, decision: decision,
		hasToolResult: !decision.IsTask || r.Client.IsModern(),
	}
	newCall := func(run *run) (*call, func(requests.Reply)) {
		c := s.newPhotonCall(r, run, decision)
		c.presence = start.presence
		return c, answer
	}
	switch {
	case refused != nil:
		answer(r.Error(refused))
	case decision.IsTask:
		r.Session.RunBlocking(func() { answer(s.tasks.create(r, start)) })
	default:
		s.starter.serveCall(r, &start, answer, newCall)
	}
}

// newPhotonCall returns the call of a photon that has started a run.
func (s *Service) newPhotonCall(r *session.Request, run *run, d tasks.Decision) *call {
	c := s.starter.newCall(r, run, startedRun{run: run}, toolResult)
	sess, client, photon := r.Session, r.Client, run.photon
	isPromised := func() bool { return s.config.GuaranteedOutputSchema(sess, client, photon) != nil }
	c.allowHandoff(s.starter.leaveTimes(d), s.starter.handoff(r, run, IsShownInChat(photon), isPromised))
	return c
}

// ServeTaskRequest serves a request about a task.
func (s *Service) ServeTaskRequest(r *session.Request, answer func(requests.Reply)) {
	s.tasks.serve(r, answer)
}
