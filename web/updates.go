package web

import (
	"hash/fnv"
	"net/http"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/ui"
)

// handleUpdates keeps a page with a list up to date: it sends the list, and what
// stands around every page, whenever one of the caller's runs has moved.
func (s *Server) handleUpdates(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	list, ok := s.listPatches(r)[r.URL.Query().Get("page")]
	if !ok {
		return statusErrorf(http.StatusBadRequest, "The parameter page must be home, runs, asks or ask.")
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.withClosing(r.Context(), 0)
	defer cancel()
	v := s.openPageStream(ctx, r, who)
	defer v.release()
	at, err := resumePosition(r)
	if err != nil {
		return statusErrorf(http.StatusBadRequest, "%v.", err)
	}
	show := func() []ui.Patch { return append(ui.FramePatches(s.newChrome(r, who, "")), list(who)...) }
	s.logStreamEnd(v.ctx, sse.WriteBatches(w, v.withSignals(at, withChecksumIDs(s.watchPatches(v, who, at.ID, show)))), "page", r.URL.Query().Get("page"))
	return nil
}

// watchPatches are the steps of what changes as the caller's runs do. Each is summed
// up: what the page has already is not told again.
func (s *Server) watchPatches(v *pageStream, who engine.Caller, has uint64, show func() []ui.Patch) messageStream {
	return func(yield func([]sse.Message, error) bool) {
		for range s.engine.Watch(v.ctx, who) {
			messages, err := encodePatches(v.ctx, show())
			if err != nil {
				yield(nil, err)
				return
			}
			if sum := checksum(messages); sum != has {
				has = sum
				if !yield(messages, nil) {
					return
				}
			}
			if !v.hasSlot || !sse.Sleep(v.ctx, listBatchInterval) {
				return
			}
		}
	}
}

// withChecksumIDs has a page that comes back say what it has: each step's id is its sum.
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

// listBatchInterval is how long changes of a list are collected.
const listBatchInterval = 100 * time.Millisecond

// listPatches make the patches of each page that has a list: that of runs may be
// narrowed to a state, and that of one question lists just it.
func (s *Server) listPatches(r *http.Request) map[string]func(engine.Caller) []ui.Patch {
	state := r.URL.Query().Get("state")
	return map[string]func(engine.Caller) []ui.Patch{
		"home": func(engine.Caller) []ui.Patch { return nil },
		"runs": func(who engine.Caller) []ui.Patch {
			return ui.ListPatches(ui.RunsList(s.runLines(who, s.engine.Runs(who, maxListedRuns, hasState(state))), state != ""))
		},
		"asks": func(who engine.Caller) []ui.Patch {
			return ui.ListPatches(ui.InboxList(s.engine.Inbox(who, maxListedAsks)))
		},
		"ask": func(who engine.Caller) []ui.Patch { return s.closedAskPatches(r, who, r.URL.Query().Get("ask")) },
	}
}
