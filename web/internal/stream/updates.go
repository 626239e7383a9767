package stream

import (
	"context"
	"hash/fnv"
	"iter"
	"net/http"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/ui"
)

// A List is what a page keeps up to date besides the bar and the sidebar.
type List struct {
	// Patches returns a function that renders the list, as it is then, for a request of the page;
	// it is nil if the page has only the bar and the sidebar.
	Patches func(r *http.Request, caller generators.Caller) func() []ui.Patch
	// OfOperators means that only operators see the page.
	OfOperators bool
	// Interval is how often the list is rendered again. What hasn't changed isn't sent. Zero means
	// whenever one of the caller's runs changes.
	Interval time.Duration
}

// Updates keeps a page with a list up to date: it sends the list, the bar and the
// sidebar whenever one of the caller's runs changes.
func (h *Handlers) Updates(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	page := r.URL.Query().Get("page")
	list, ok := h.Lists[page]
	if !ok {
		return problem.Errorf(http.StatusBadRequest, "The parameter page must be home, runs, asks, ask, upstreams or replicas, if they are served here.")
	}
	if list.OfOperators && !caller.HasRole(generators.RoleOperator) {
		return engine.ErrForbidden
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := h.withClosing(r.Context(), 0)
	defer cancel()
	p := h.openPageStream(ctx, r, caller)
	defer p.release()
	position, err := resumePosition(r)
	if err != nil {
		return problem.Errorf(http.StatusBadRequest, "%v.", err)
	}
	render := h.framePatches(r, caller)
	if list.Patches != nil {
		render = concat(render, list.Patches(r, caller))
	}
	changes := h.Engine.Watch(p.ctx, h.Callers.Watched(caller)...)
	if list.Interval > 0 {
		changes = everyInterval(p.ctx, list.Interval)
	}
	updates := withChecksumIDs(renderPatches(p, changes, position.ID, render))
	h.logStreamEnd(p.ctx, sse.WriteBatches(w, p.withSignals(position, updates)), "page", page)
	return nil
}

// framePatches returns a function that renders the bar and the sidebar of a page.
func (h *Handlers) framePatches(r *http.Request, caller generators.Caller) func() []ui.Patch {
	return func() []ui.Patch { return ui.FramePatches(h.Pages.Chrome(r, caller, "")) }
}

// concat returns a function that renders what two functions do.
func concat(a, b func() []ui.Patch) func() []ui.Patch {
	return func() []ui.Patch { return append(a(), b()...) }
}

// renderPatches streams the rendered patches at each change, unless their checksum equals
// that of what the page has.
func renderPatches(p *pageStream, changes iter.Seq[struct{}], last uint64, render func() []ui.Patch) messageStream {
	return func(yield func([]sse.Message, error) bool) {
		for range changes {
			messages, err := encodePatches(p.ctx, render())
			if err != nil {
				yield(nil, err)
				return
			}
			if sum := checksum(messages); sum != last {
				last = sum
				if !yield(messages, nil) {
					return
				}
			}
			if !p.hasSlot || !sse.Sleep(p.ctx, listBatchInterval) {
				return
			}
		}
	}
}

// withChecksumIDs ends each batch with its checksum as event id, so that a reconnecting
// page reports what it has.
func withChecksumIDs(list messageStream) messageStream {
	return func(yield func([]sse.Message, error) bool) {
		for messages, err := range list {
			if err == nil {
				messages = append(messages, sse.Message{ID: checksum(messages)})
			}
			if !yield(messages, err) {
				return
			}
		}
	}
}

func checksum(messages []sse.Message) uint64 {
	sum := fnv.New64a()
	for _, m := range messages {
		sum.Write(m.Data)
	}
	return max(sum.Sum64(), 1)
}

// listBatchInterval is how long a stream collects changes before it renders a list again.
const listBatchInterval = 100 * time.Millisecond

// everyInterval yields at once, and then at intervals until ctx ends.
func everyInterval(ctx context.Context, d time.Duration) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		for yield(struct{}{}) && sse.Sleep(ctx, d) {
		}
	}
}
