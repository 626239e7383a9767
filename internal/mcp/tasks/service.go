// Package tasks serves MCP's tasks. A task is a run, and its id is the run's. Its state
// is read from the engine, so that a task costs no more than its run and survives a
// restart with it.
//
// There are three protocols: in MCP 2025-11-25, the client decides whether a call is a
// task; the proposal of MCP's issue 1869 adds questions and answers in _meta, so that
// nothing blocks; in the extension of 2026-07-28 (SEP-2663), the photon decides.
package tasks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/runsource"
	"github.com/photon-beam/beam/internal/registry"
)

// Surface is the surface that runs which are tasks are recorded with.
const Surface = "mcp task"

// answerEffectWait is how long the reply to an answer waits for its effect. A photon
// that has nothing left to do ends within that time.
const answerEffectWait = 50 * time.Millisecond

// Config configures a service.
type Config struct {
	Engine  *engine.Engine
	Photons *registry.Registry
	// Implementation identifies the server to clients.
	Implementation mcp.Implementation
	// Link adds the address of a task's question to its status message, and leaves
	// questions open that the client can't be asked.
	Link bool
	// MapUI returns the function that maps the ui:// addresses of what a photon
	// returns; see [msg.Translator].
	MapUI func(photon *generators.Photon) func(uri string) string
	// EffectWait is how long replies wait for what a task does next. The default is short.
	EffectWait time.Duration
	Logger     *slog.Logger
}

// A Service serves requests about tasks. Its methods may be called concurrently.
type Service struct {
	Config
	hub *hub
}

// NewService returns a service.
func NewService(c Config) *Service { return &Service{Config: c, hub: newHub(c.Engine)} }

// A Requester is the client that a request comes from.
type Requester struct {
	Caller generators.Caller
	Client *msg.Client
	// PageBaseURL returns the base URL of Beam's pages, as the client reaches them.
	PageBaseURL func() (string, error)
	// Identified reports whether Caller is a known user or token, rather than anyone
	// who can reach the address.
	Identified bool
	// Reachable reports whether the client can be sent the questions of its tasks while
	// it only polls them.
	Reachable bool
}

// Serve serves a request about a task, and returns its result. It serves all methods
// but tasks/result, which waits for the task's end.
func (s *Service) Serve(ctx context.Context, r Requester, m msg.Incoming) (result any, refused *msg.Error) {
	switch {
	case r.Client.IsModern():
		return s.serveExtension(r, m)
	case r.Client.Version != mcp.ProtocolVersion20251125:
		return nil, unknownMethodError(m)
	}
	p, refused := parseParams(m)
	if refused != nil {
		return nil, refused
	}
	switch m.Method {
	case MethodGet:
		return s.getTask(ctx, r, p)
	case methodCancel:
		return s.cancelTask(r, p)
	case methodList:
		return s.listTasks(r, p)
	}
	return nil, unknownMethodError(m)
}

// FindRequestedRun returns the run of the task that a request names.
func (s *Service) FindRequestedRun(caller generators.Caller, m msg.Incoming) (engine.Info, *msg.Error) {
	p, refused := parseParams(m)
	if refused != nil {
		return engine.Info{}, refused
	}
	return s.findRun(caller, p.ID, Surface)
}

// extensionSurfaces are where the runs of tasks of a client of the modern era were started: its
// calls may become tasks after their runs have started.
var extensionSurfaces = []string{Surface, msg.Surface}

// findRun returns a run of the caller that was started from one of the surfaces. An operator's
// client doesn't act on the tasks of others.
func (s *Service) findRun(caller generators.Caller, id string, surfaces ...string) (engine.Info, *msg.Error) {
	info, err := s.Engine.Info(caller, id)
	if err != nil || !slices.Contains(surfaces, info.Surface) || info.Owner != caller.ID {
		// The error does not disclose whether the task belongs to another caller.
		return engine.Info{}, msg.Errorf(mcp.INVALID_PARAMS, "taskId: there is no such task; it may have been deleted some time after its end")
	}
	return info, nil
}

// AwaitQuestions waits until the run has ended, is paused, or waits with all its questions
// asked, for at most [Config.EffectWait], or d by default. It returns the run's state.
func (s *Service) AwaitQuestions(ctx context.Context, caller generators.Caller, id string, d time.Duration) (engine.Info, error) {
	info, err := s.Engine.Info(caller, id)
	if err != nil || isIdle(info) {
		return info, err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.EffectWait, d))
	defer cancel()
	batches, err := s.Engine.Follow(ctx, caller, id, info.LastSeq)
	if err != nil {
		return info, err
	}
	for range batches {
		if info, err = s.Engine.Info(caller, id); err != nil || isIdle(info) {
			break
		}
	}
	return info, err
}

// isIdle reports whether the run does nothing further by itself, or not soon.
func isIdle(info engine.Info) bool {
	n := len(info.Asks)
	return info.State.Ended() || info.Pause() != "" || n > 0 && !info.Asks[n-1].More
}

// translator returns the translator of a task's run for the requester.
func (s *Service) translator(r Requester, info engine.Info) *msg.Translator {
	photon, ok := s.Photons.Lookup(info.Photon)
	if !ok {
		photon = msg.PlaceholderPhoton(info.Photon)
	}
	source := runsource.Source{Engine: s.Engine, Caller: r.Caller, RunID: info.ID, Pages: r.PageBaseURL}
	return &msg.Translator{Client: r.Client, Photon: photon, RunID: info.ID, Source: source, MapUI: s.MapUI(photon)}
}

func (s *Service) newResultBase(r Requester, resultType string) msg.ResultBase {
	return msg.NewResultBase(r.Client, resultType, s.Implementation)
}

// cancelRun cancels a task's run. It is not an error if the run was deleted.
func (s *Service) cancelRun(caller generators.Caller, id string) *msg.Error {
	err := s.Engine.Cancel(context.Background(), caller, id, Surface)
	if err != nil && !errors.Is(err, engine.ErrRunNotFound) {
		return s.internalError("cancelling a task", id, err)
	}
	return nil
}

// answerContext is the context for recording answers, also if the client is gone. They may
// wait for their turn.
func answerContext() context.Context {
	return engine.WithMaxWait(context.Background(), engine.TurnWait)
}

// internalError logs err and returns an error that does not disclose it, unless a budget is
// exceeded.
func (s *Service) internalError(doing, run string, err error) *msg.Error {
	if errors.Is(err, budget.ErrExceeded) {
		return msg.Errorf(mcp.INTERNAL_ERROR, "%v", err)
	}
	s.Logger.Error(doing, "run", run, "err", err)
	return msg.Errorf(mcp.INTERNAL_ERROR, "Beam could not serve this request; its log says why")
}
