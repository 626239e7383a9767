// Package stream serves streams of server-sent events: of runs, and of open pages.
package stream

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/site"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
	"github.com/photon-beam/beam/web/internal/wire"
)

// Handlers serve streams: of runs, and of pages that keep themselves up to date.
type Handlers struct {
	Config
	slots   *slots
	closing context.Context // done when the server closes, which ends the streams
	close   context.CancelFunc
}

// Config is what streams need.
type Config struct {
	Engine   *engine.Engine
	Callers  *access.Callers
	Loader   *timeline.Loader
	Messages *wire.Runs
	Pending  *Pending
	Budget   *budget.Budget // of the streams of callers
	// Lists render the lists of pages, by the name of the page.
	Lists  map[string]List
	Site   *site.Site
	Pages  *page.Renderer
	Logger *slog.Logger
}

// New returns handlers.
func New(c Config) *Handlers {
	h := &Handlers{Config: c, slots: newSlots()}
	h.closing, h.close = context.WithCancel(context.Background())
	return h
}

// Close ends all streams.
func (h *Handlers) Close() { h.close() }

// Disconnect disconnects the pages of a browser that has signed out.
func (h *Handlers) Disconnect(browser string) { h.slots.revokeAll(browser) }

// Events streams a run as JSON-RPC messages, or as patches for a page.
func (h *Handlers) Events(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	position, err := resumePosition(r)
	if err != nil {
		return problem.Errorf(http.StatusBadRequest, "%v.", err)
	}
	id := r.PathValue("id")
	info, err := h.Engine.Info(caller, id)
	switch {
	case errors.Is(err, engine.ErrRunNotFound) && request.IsDatastar(r):
		return h.Pages.Render(w, r, http.StatusOK, ui.RunGone())
	case errors.Is(err, engine.ErrForbidden) && request.IsDatastar(r):
		return h.Pages.Render(w, r, http.StatusOK, ui.RunForbidden())
	}
	if err != nil {
		return err
	}
	if isOver(w, r, info, position) {
		return nil
	}
	ctx, cancel := h.withClosing(r.Context(), finalEventsGrace)
	defer cancel()
	if request.IsDatastar(r) {
		return h.streamRunPatches(ctx, w, r, caller, info, position)
	}
	render := sse.NewJSONRPCRenderer(ctx, h.Messages.Describe(caller, info, h.Site.BaseURL(r)), position.ID)
	return h.serveEntries(ctx, w, caller, id, 0, render)
}

// isOver reports whether a request needs no stream, and responds to it: it has all of a run that
// has ended, or asks only for headers.
func isOver(w http.ResponseWriter, r *http.Request, info engine.Info, position sse.Message) bool {
	if info.State.Ended() && position.ID >= info.LastSeq && !position.Partial {
		w.WriteHeader(http.StatusNoContent) // stops an EventSource from reconnecting
		return true
	}
	return r.Method == http.MethodHead
}

// serveEntries streams the entries of a run that follow an ordinal.
func (h *Handlers) serveEntries(ctx context.Context, w http.ResponseWriter, caller generators.Caller, run string, after uint64, render sse.Renderer) error {
	release, err := h.Budget.Acquire(caller.ID)
	if err != nil {
		return err
	}
	defer release()
	batches, err := h.Engine.Follow(ctx, caller, run, after)
	if err != nil {
		return err
	}
	h.logStreamEnd(ctx, sse.Serve(ctx, w, h.Pending.after(ctx, run, batches), render, sse.Options{}), "run", run)
	return nil
}

// streamRunPatches keeps a run's page up to date, including the bar and the sidebar,
// which show other runs.
func (h *Handlers) streamRunPatches(parent context.Context, w http.ResponseWriter, r *http.Request, caller generators.Caller, info engine.Info, position sse.Message) error {
	p := h.openPageStream(parent, r, caller)
	defer p.release()
	batches, err := h.readOrFollow(p, caller, info, position)
	if err != nil {
		return err
	}
	framePatches := h.framePatches(r, caller)
	alsoPatches := framePatches
	if p.isUpToDate(info, position) { // then no entry makes the renderer say who may answer
		alsoPatches = concat(framePatches, func() []ui.Patch { return ui.ReasonPatches(info.Asks) })
	}
	render := &patchRenderer{
		ctx: p.ctx, after: position.ID, until: info.LastSeq, partial: position.Partial, run: h.Loader.Begin(caller, info.ID, info.Photon), framePatches: framePatches,
	}
	batches = mergeStreams(batches, h.watchAudiences(p, caller), p.hasSlot)
	updates := mergeStreams(sse.RenderBatches(p.ctx, batches, render, sse.Options{BatchDelay: ui.BatchInterval}), renderPatches(p, h.Engine.Watch(p.ctx, h.Callers.Watched(caller)...), 0, alsoPatches), p.hasSlot)
	h.logStreamEnd(p.ctx, sse.WriteBatches(w, p.withSignals(position, updates)), "run", info.ID)
	return nil
}

// watchAudiences yields an empty batch each time the caller's runs change, or who may answer
// their questions.
func (h *Handlers) watchAudiences(p *pageStream, caller generators.Caller) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for range h.Engine.Watch(p.ctx, h.Callers.Watched(caller)...) {
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
func (h *Handlers) readOrFollow(p *pageStream, caller generators.Caller, info engine.Info, position sse.Message) (iter.Seq2[[]runlog.Entry, error], error) {
	switch {
	case p.hasSlot:
		return h.Engine.Follow(engine.WithPanics(p.ctx), caller, info.ID, 0)
	case p.isUpToDate(info, position):
		return func(func([]runlog.Entry, error) bool) {}, nil
	}
	return h.Engine.Read(engine.WithPanics(p.ctx), caller, info.ID, 0)
}

// logStreamEnd logs how a stream ended. A disconnected client is not an error.
func (h *Handlers) logStreamEnd(ctx context.Context, err error, attrs ...any) {
	switch {
	case err == nil:
	case errors.Is(err, engine.ErrForbidden):
		h.Logger.Debug("another caller adopted the run", attrs...)
	case errors.Is(err, sse.ErrClientGone), ctx.Err() != nil:
		h.Logger.Debug("client disconnected", append(attrs, "err", err)...)
	default:
		h.Logger.Error("stream failed", append(attrs, "err", err)...)
	}
}

// finalEventsGrace is how long the stream of a run stays open after the server closes,
// so that it can send the end of the run.
const finalEventsGrace = 500 * time.Millisecond

// withClosing returns a context that ends grace after the server closes, so that the
// server doesn't wait for the readers of streams.
func (h *Handlers) withClosing(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.closing, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}
