package web

import (
	"hash/fnv"
	"net/http"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/ui"
)

// handleUpdates keeps a page with a list up to date: it sends the list, the bar and the
// sidebar whenever one of the caller's runs changes.
func (s *Server) handleUpdates(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	list, ok := s.listPatches(r)[r.URL.Query().Get("page")]
	if !ok {
		return statusErrorf(http.StatusBadRequest, "The parameter page must be home, runs, asks or ask.")
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
		return statusErrorf(http.StatusBadRequest, "%v.", err)
	}
	render := func() []ui.Patch { return append(ui.FramePatches(s.newChrome(r, caller, "")), list(caller)...) }
	updates := withChecksumIDs(s.watchPatches(p, caller, position.ID, render))
	s.logStreamEnd(p.ctx, sse.WriteBatches(w, p.withSignals(position, updates)), "page", r.URL.Query().Get("page"))
	return nil
}

// watchPatches streams the rendered patches each time the caller's runs change, unless
// their checksum equals that of what the page has.
func (s *Server) watchPatches(p *pageStream, caller generators.Caller, last uint64, render func() []ui.Patch) messageStream {
	return func(yield func([]sse.Message, error) bool) {
		for range s.engine.Watch(p.ctx, s.watchedCallers(caller)...) {
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
// list of runs may be filtered by state; the page of one question has just that.
func (s *Server) listPatches(r *http.Request) map[string]func(generators.Caller) []ui.Patch {
	state, inbox := r.URL.Query().Get("state"), new(inboxList)
	return map[string]func(generators.Caller) []ui.Patch{
		"home": func(generators.Caller) []ui.Patch { return nil },
		"runs": func(caller generators.Caller) []ui.Patch {
			return ui.ListPatches(ui.RunsList(s.runLines(caller, s.engine.Runs(caller, maxListedRuns, hasState(state))), state != ""))
		},
		"asks": func(caller generators.Caller) []ui.Patch {
			return ui.ListPatches(ui.InboxList(inbox.update(s.engine, caller)))
		},
		"ask": func(caller generators.Caller) []ui.Patch {
			return s.closedAskPatches(r, caller, r.URL.Query().Get("ask"))
		},
	}
}
