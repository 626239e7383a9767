package web

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/runsource"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// handleEvents streams a run as JSON-RPC messages, or as patches for a page.
func (s *Server) handleEvents(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	position, err := resumePosition(r)
	if err != nil {
		return statusErrorf(http.StatusBadRequest, "%v.", err)
	}
	id := r.PathValue("id")
	info, err := s.engine.Info(caller, id)
	switch {
	case errors.Is(err, engine.ErrRunNotFound) && isDatastarRequest(r):
		return s.render(w, r, http.StatusOK, ui.RunGone(id))
	case errors.Is(err, engine.ErrForbidden) && isDatastarRequest(r):
		return s.render(w, r, http.StatusOK, ui.RunForbidden())
	}
	if err != nil {
		return err
	}
	if info.State.Ended() && position.ID >= info.LastSeq && !position.Partial {
		w.WriteHeader(http.StatusNoContent) // stops an EventSource from reconnecting
		return nil
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.withClosing(r.Context(), finalEventsGrace)
	defer cancel()
	if isDatastarRequest(r) {
		return s.streamRunPatches(ctx, w, r, caller, info, position)
	}
	release, err := s.streams.Acquire(caller.ID)
	if err != nil {
		return err
	}
	defer release()
	batches, err := s.engine.Follow(ctx, caller, id, 0)
	if err != nil {
		return err
	}
	batches = s.unacknowledged.after(ctx, id, batches)
	render := sse.NewJSONRPCRenderer(ctx, s.jsonrpcRun(r, caller, info), position.ID)
	s.logStreamEnd(ctx, sse.Serve(ctx, w, batches, render, sse.Options{}), "run", id)
	return nil
}

// jsonrpcRun returns a run as its stream of JSON-RPC messages needs it.
func (s *Server) jsonrpcRun(r *http.Request, caller generators.Caller, info engine.Info) sse.JSONRPCRun {
	photon, _ := s.photons.Lookup(info.Photon)
	base := s.baseURL(r)
	return sse.JSONRPCRun{
		ID: info.ID, PhotonName: info.Photon, Photon: photon,
		Source:   runsource.Source{Engine: s.engine, Caller: caller, RunID: info.ID, Pages: func() (string, error) { return base, nil }},
		Excludes: func(q *ask.Question) string { return s.engine.Excludes(caller, info.ID, q) },
	}
}

// streamRunPatches keeps a run's page up to date, including the bar and the sidebar,
// which show other runs.
func (s *Server) streamRunPatches(parent context.Context, w http.ResponseWriter, r *http.Request, caller generators.Caller, info engine.Info, position sse.Message) error {
	p := s.openPageStream(parent, r, caller)
	defer p.release()
	batches, err := s.readOrFollow(p, caller, info, position)
	if err != nil {
		return err
	}
	framePatches := func() []ui.Patch { return ui.FramePatches(s.newChrome(r, caller, "")) }
	alsoPatches := framePatches
	if p.isUpToDate(info, position) { // then no entry makes the renderer say who may answer
		alsoPatches = func() []ui.Patch { return append(framePatches(), ui.ReasonPatches(info.Asks)...) }
	}
	run := timeline.New(info.ID)
	run.Viewer, run.Models, run.Upstream, run.Unanswerable = caller, s.sampling.Models(), s.upstreamOf(info.Photon), s.engine.IsUnanswerable
	render := &patchRenderer{ctx: p.ctx, after: position.ID, until: info.LastSeq, partial: position.Partial, run: run, framePatches: framePatches}
	batches = mergeStreams(batches, s.watchAudiences(p, caller), p.hasSlot)
	updates := mergeStreams(sse.RenderBatches(p.ctx, batches, render, sse.Options{BatchDelay: ui.BatchInterval}), s.watchPatches(p, caller, 0, alsoPatches), p.hasSlot)
	s.logStreamEnd(p.ctx, sse.WriteBatches(w, p.withSignals(position, updates)), "run", info.ID)
	return nil
}

// watchAudiences yields an empty batch each time the caller's runs change, or who may answer
// their questions.
func (s *Server) watchAudiences(p *pageStream, caller generators.Caller) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for range s.engine.Watch(p.ctx, s.watchedCallers(caller)...) {
			if !yield(nil, nil) || !p.hasSlot || !sse.Sleep(p.ctx, listBatchInterval) {
				return
			}
		}
	}
}

// isUpToDate reports whether a page without a slot has all entries of a run's log.
func (p *pageStream) isUpToDate(info engine.Info, position sse.Message) bool {
	return !p.hasSlot && position.ID >= info.LastSeq && !position.Partial
}

// readOrFollow returns the entries of a run's log from the beginning: it follows the log
// if the page has a slot, else reads it, or returns no entries if none are new.
func (s *Server) readOrFollow(p *pageStream, caller generators.Caller, info engine.Info, position sse.Message) (iter.Seq2[[]runlog.Entry, error], error) {
	switch {
	case p.hasSlot:
		return s.engine.Follow(engine.WithPanics(p.ctx), caller, info.ID, 0)
	case p.isUpToDate(info, position):
		return func(func([]runlog.Entry, error) bool) {}, nil
	}
	return s.engine.Read(engine.WithPanics(p.ctx), caller, info.ID, 0)
}

// logStreamEnd logs how a stream ended. A disconnected client is not an error.
func (s *Server) logStreamEnd(ctx context.Context, err error, attrs ...any) {
	switch {
	case err == nil:
	case errors.Is(err, engine.ErrForbidden):
		s.logger.Debug("another caller adopted the run", attrs...)
	case errors.Is(err, sse.ErrClientGone), ctx.Err() != nil:
		s.logger.Debug("client disconnected", append(attrs, "err", err)...)
	default:
		s.logger.Error("stream failed", append(attrs, "err", err)...)
	}
}

// finalEventsGrace is how long the stream of a run stays open after the server closes,
// so that it can send the end of the run.
const finalEventsGrace = 500 * time.Millisecond

// withClosing returns a context that ends grace after the server closes, so that the
// server doesn't wait for the readers of streams.
func (s *Server) withClosing(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.streamsContext, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}
