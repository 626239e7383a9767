package web

import (
	"hash/fnv"
	"iter"
	"net/http"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/ui"
)

// handleUpdates keeps a page with a list up to date: it sends the list, the bar and the
// sidebar whenever one of the caller's runs changes.
func (s *Server) handleUpdates(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	page := r.URL.Query().Get("page")
	list, ok := s.listPatches(r)[page]
	if !ok {
		return problem.Errorf(http.StatusBadRequest, "The parameter page must be home, runs, asks, ask or upstreams.")
	}
	ofUpstreams := page == "upstreams"
	if ofUpstreams && !s.mayOperateUpstreams(caller) {
		return engine.ErrForbidden
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.withClosing(r.Context(), 0)
	defer cancel()
	p := s.openPageStream(ctx, r, caller)
	defer p.release()
	position, err := resumePosition(r)
	if err != nil {
		return problem.Errorf(http.StatusBadRequest, "%v.", err)
	}
	render := func() []ui.Patch { return append(ui.FramePatches(s.newChrome(r, caller, "")), list(caller)...) }
	changes := s.engine.Watch(p.ctx, s.watchedCallers(caller)...)
	if ofUpstreams {
		changes = everyInterval(p.ctx, upstreamInterval)
	}
	updates := withChecksumIDs(renderPatches(p, changes, position.ID, render))
	s.logStreamEnd(p.ctx, sse.WriteBatches(w, p.withSignals(position, updates)), "page", page)
	return nil
}

// watchPatches streams the rendered patches each time the caller's runs change.
func (s *Server) watchPatches(p *pageStream, caller generators.Caller, last uint64, render func() []ui.Patch) messageStream {
	return renderPatches(p, s.engine.Watch(p.ctx, s.watchedCallers(caller)...), last, render)
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

// watchedCallers returns the callers whose runs the caller's pages depend on.
func (s *Server) watchedCallers(caller generators.Caller) []generators.Caller {
	if s.maySignIn(caller) {
		return []generators.Caller{caller, callers.LocalClient()}
	}
	return []generators.Caller{caller}
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

// listPatches returns a function for each page with a list that renders its patches. The
// list of runs and the inbox are those of the page's own query; the page of one question
// has just that.
func (s *Server) listPatches(r *http.Request) map[string]func(generators.Caller) []ui.Patch {
	query, inbox := r.URL.Query(), new(inboxList)
	return map[string]func(generators.Caller) []ui.Patch{
		"home": func(generators.Caller) []ui.Patch { return nil },
		"runs": func(caller generators.Caller) []ui.Patch {
			list, err := s.runsPage(query, caller, runsPerPage)
			if err != nil || list.filter.Text != "" { // a search may take too long to repeat it at every change
				return nil
			}
			return ui.ListPatches(ui.RunsList(s.newRunsPage(query, caller, list)))
		},
		"asks": func(caller generators.Caller) []ui.Patch {
			page, err := inbox.update(s.engine, caller, query)
			if err != nil {
				return nil
			}
			return ui.ListPatches(ui.InboxList(page))
		},
		"ask": func(caller generators.Caller) []ui.Patch {
			return s.closedAskPatches(r, caller, r.URL.Query().Get("ask"))
		},
		"upstreams": func(generators.Caller) []ui.Patch {
			return s.upstreamPatches(r.URL.Query().Get("upstream"))
		},
	}
}
