package web

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/timeline"
	"github.com/photon-beam/beam/web/ui"
)

// events streams a run: JSON-RPC messages, or patches for a page.
func (s *Server) events(w http.ResponseWriter, r *http.Request, who run.Caller) error {
	at, err := position(r)
	if err != nil {
		return refuse(http.StatusBadRequest, "%v.", err)
	}
	id := r.PathValue("id")
	info, err := s.engine.Info(who, id)
	if errors.Is(err, run.ErrNotFound) && isPatch(r) {
		return s.render(w, r, http.StatusOK, ui.RunGone(id))
	}
	if err != nil {
		return err
	}
	if info.State.Ended() && at.ID >= info.Last && !at.Partly {
		w.WriteHeader(http.StatusNoContent) // tells an EventSource not to come back
		return nil
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.untilClosing(r.Context(), lastWords)
	defer cancel()
	if isPatch(r) {
		return s.runPatches(ctx, w, r, who, info, at)
	}
	batches, err := s.engine.Follow(ctx, who, id, at.ID)
	if err != nil {
		return err
	}
	render := &sse.JSONRPC{Run: id, Logger: info.Photon, Base: origin(r)}
	s.streamed(ctx, sse.Serve(ctx, w, batches, render, sse.Options{}), "run", id)
	return nil
}

// runPatches keeps a run's page up to date, and what stands around it as other
// runs come and go.
func (s *Server) runPatches(parent context.Context, w http.ResponseWriter, r *http.Request, who run.Caller, info run.Info, at sse.Message) error {
	v := s.visit(parent, r, who)
	defer v.leave()
	batches, err := s.batches(v, who, info, at)
	if err != nil {
		return err
	}
	around := func() []ui.Patch { return ui.Around(s.chrome(r, who, "")) }
	render := &patches{ctx: v.ctx, after: at.ID, until: info.Last, torn: at.Partly, told: timeline.New(info.ID), around: around}
	told := beside(sse.Steps(v.ctx, batches, render, sse.Options{Pause: ui.Pause}), s.shown(v, who, 0, around), v.seated)
	s.streamed(v.ctx, sse.Send(w, v.tell(at, told)), "run", info.ID)
	return nil
}

// batches are the entries of a run's log, from the beginning, that a visit is
// for: none, if it only looks in and nothing is new.
func (s *Server) batches(v *visit, who run.Caller, info run.Info, at sse.Message) (iter.Seq2[[]log.Entry, error], error) {
	switch {
	case v.seated:
		return s.engine.Follow(v.ctx, who, info.ID, 0)
	case at.ID >= info.Last && !at.Partly:
		return func(func([]log.Entry, error) bool) {}, nil
	}
	return s.engine.Read(v.ctx, who, info.ID)
}

// streamed logs how a stream ended: a reader that went away is no fault.
func (s *Server) streamed(ctx context.Context, err error, about ...any) {
	switch {
	case err == nil:
	case errors.Is(err, sse.ErrGone), ctx.Err() != nil:
		s.logger.Debug("a reader went away", append(about, "err", err)...)
	default:
		s.logger.Error("a stream broke off", append(about, "err", err)...)
	}
}

// lastWords is how long the stream of a run goes on after the server was told
// to stop: the run has ended by then, and its follower is to be told.
const lastWords = 500 * time.Millisecond

// untilClosing ends a stream some time after the server is told to stop, so
// that it does not wait for its readers.
func (s *Server) untilClosing(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.closed, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}
