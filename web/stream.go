package web

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/timeline"
	"github.com/photon-beam/beam/web/ui"
)

// handleEvents streams a run: JSON-RPC messages, or patches for a page.
func (s *Server) handleEvents(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	at, err := resumePosition(r)
	if err != nil {
		return statusErrorf(http.StatusBadRequest, "%v.", err)
	}
	id := r.PathValue("id")
	info, err := s.engine.Info(who, id)
	if errors.Is(err, engine.ErrRunNotFound) && isDatastarRequest(r) {
		return s.render(w, r, http.StatusOK, ui.RunGone(id))
	}
	if err != nil {
		return err
	}
	if info.State.Ended() && at.ID >= info.LastSeq && !at.Partial {
		w.WriteHeader(http.StatusNoContent) // tells an EventSource not to come back
		return nil
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.withClosing(r.Context(), finalEventsGrace)
	defer cancel()
	if isDatastarRequest(r) {
		return s.streamRunPatches(ctx, w, r, who, info, at)
	}
	batches, err := s.engine.Follow(ctx, who, id, 0)
	if err != nil {
		return err
	}
	render := sse.NewJSONRPCRenderer(ctx, s.jsonrpcRun(r, who, info), at.ID)
	s.logStreamEnd(ctx, sse.Serve(ctx, w, batches, render, sse.Options{}), "run", id)
	return nil
}

// jsonrpcRun returns a run as its stream of JSON-RPC messages needs it.
func (s *Server) jsonrpcRun(r *http.Request, who engine.Caller, info engine.Info) sse.JSONRPCRun {
	photon, _ := s.photons.Lookup(info.Photon)
	return sse.JSONRPCRun{
		ID: info.ID, PhotonName: info.Photon, Photon: photon, BaseURL: baseURL(r),
		OpenArtifact: func(ctx context.Context, seq uint64) (*generators.Artifact, io.ReadCloser, error) {
			return s.engine.OpenArtifact(ctx, who, info.ID, seq)
		},
	}
}

// streamRunPatches keeps a run's page up to date, and what stands around it as other
// runs come and go.
func (s *Server) streamRunPatches(parent context.Context, w http.ResponseWriter, r *http.Request, who engine.Caller, info engine.Info, at sse.Message) error {
	v := s.openPageStream(parent, r, who)
	defer v.release()
	batches, err := s.readOrFollow(v, who, info, at)
	if err != nil {
		return err
	}
	around := func() []ui.Patch { return ui.FramePatches(s.newChrome(r, who, "")) }
	render := &patchRenderer{ctx: v.ctx, after: at.ID, until: info.LastSeq, partial: at.Partial, run: timeline.New(info.ID), framePatches: around}
	told := mergeStreams(sse.RenderBatches(v.ctx, batches, render, sse.Options{BatchDelay: ui.BatchInterval}), s.watchPatches(v, who, 0, around), v.hasSlot)
	s.logStreamEnd(v.ctx, sse.WriteBatches(w, v.withSignals(at, told)), "run", info.ID)
	return nil
}

// readOrFollow are the entries of a run's log, from the beginning, that a visit is
// for: none, if it only looks in and nothing is new.
func (s *Server) readOrFollow(v *pageStream, who engine.Caller, info engine.Info, at sse.Message) (iter.Seq2[[]runlog.Entry, error], error) {
	switch {
	case v.hasSlot:
		return s.engine.Follow(v.ctx, who, info.ID, 0)
	case at.ID >= info.LastSeq && !at.Partial:
		return func(func([]runlog.Entry, error) bool) {}, nil
	}
	return s.engine.Read(v.ctx, who, info.ID)
}

// logStreamEnd logs how a stream ended: a reader that went away is no fault.
func (s *Server) logStreamEnd(ctx context.Context, err error, about ...any) {
	switch {
	case err == nil:
	case errors.Is(err, sse.ErrClientGone), ctx.Err() != nil:
		s.logger.Debug("a reader went away", append(about, "err", err)...)
	default:
		s.logger.Error("a stream broke off", append(about, "err", err)...)
	}
}

// finalEventsGrace is how long the stream of a run goes on after the server was told
// to stop: the run has ended by then, and its follower is to be told.
const finalEventsGrace = 500 * time.Millisecond

// withClosing ends a stream some time after the server is told to stop, so
// that it does not wait for its readers.
func (s *Server) withClosing(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.streamsContext, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}
