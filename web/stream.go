package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/timeline"
	"github.com/photon-beam/beam/web/ui"
)

// events streams a run: JSON-RPC messages, or patches for a page.
func (s *Server) events(w http.ResponseWriter, r *http.Request, who run.Caller) error {
	after, err := sse.After(r)
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
	if info.State.Ended() && after >= info.Last {
		w.WriteHeader(http.StatusNoContent) // tells an EventSource not to come back
		return nil
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.untilClosing(r.Context(), lastWords)
	defer cancel()
	if !isPatch(r) {
		render := &sse.JSONRPC{Run: id, Logger: info.Photon, Base: origin(r)}
		return s.stream(ctx, w, who, id, after, render, sse.Options{})
	}
	render := &patches{ctx: ctx, after: after, until: info.Last, again: r.Header.Get("Last-Event-ID") != "", told: timeline.New(id)}
	render.around = func() []ui.Patch { return ui.Around(s.chrome(r, who, "")) }
	return s.stream(ctx, w, who, id, 0, render, sse.Options{Pause: ui.Pause})
}

func (s *Server) stream(ctx context.Context, w http.ResponseWriter, who run.Caller, id string, after uint64, render sse.Renderer, o sse.Options) error {
	batches, err := s.engine.Follow(ctx, who, id, after)
	if err != nil {
		return err
	}
	s.streamed(ctx, sse.Serve(ctx, w, batches, render, o), "run", id)
	return nil
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
