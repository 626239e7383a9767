package web

import (
	"hash/fnv"
	"net/http"
	"time"

	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/ui"
)

// updates keeps a page with a list up to date: it sends the list, and what
// stands around every page, whenever one of the caller's runs has moved.
func (s *Server) updates(w http.ResponseWriter, r *http.Request, who run.Caller) error {
	list, ok := s.lists(r)[r.URL.Query().Get("page")]
	if !ok {
		return refuse(http.StatusBadRequest, "The parameter page must be home, runs, asks or ask.")
	}
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.untilClosing(r.Context(), 0)
	defer cancel()
	v := s.visit(ctx, r, who)
	defer v.leave()
	at, err := position(r)
	if err != nil {
		return refuse(http.StatusBadRequest, "%v.", err)
	}
	show := func() []ui.Patch { return append(ui.Around(s.chrome(r, who, "")), list(who)...) }
	s.streamed(v.ctx, sse.Send(w, v.tell(at, numbered(s.shown(v, who, at.ID, show)))), "page", r.URL.Query().Get("page"))
	return nil
}

// shown are the steps of what changes as the caller's runs do. Each is summed
// up: what the page has already is not told again.
func (s *Server) shown(v *visit, who run.Caller, has uint64, show func() []ui.Patch) steps {
	return func(yield func([]sse.Message, error) bool) {
		for range s.engine.Watch(v.ctx, who) {
			messages, err := patchMessages(v.ctx, show())
			if err != nil {
				yield(nil, err)
				return
			}
			if sum := sumOf(messages); sum != has {
				has = sum
				if !yield(messages, nil) {
					return
				}
			}
			if !v.seated || !sse.Pause(v.ctx, listPause) {
				return
			}
		}
	}
}

// numbered has a page that comes back say what it has: each step's id is its sum.
func numbered(list steps) steps {
	return func(yield func([]sse.Message, error) bool) {
		for messages, err := range list {
			if err == nil {
				messages = append(messages, sse.Message{ID: sumOf(messages)})
			}
			if !yield(messages, err) {
				return
			}
		}
	}
}

func sumOf(messages []sse.Message) uint64 {
	sum := fnv.New64a()
	for _, m := range messages {
		sum.Write(m.Data)
	}
	return max(sum.Sum64(), 1)
}

// listPause is how long changes of a list are collected.
const listPause = 100 * time.Millisecond

// lists make the patches of each page that has a list: that of runs may be
// narrowed to a state, and that of one question lists just it.
func (s *Server) lists(r *http.Request) map[string]func(run.Caller) []ui.Patch {
	state := r.URL.Query().Get("state")
	return map[string]func(run.Caller) []ui.Patch{
		"home": func(run.Caller) []ui.Patch { return nil },
		"runs": func(who run.Caller) []ui.Patch {
			return ui.List(ui.RunsList(s.lines(who, s.engine.Runs(who, listedRuns, inState(state))), state != ""))
		},
		"asks": func(who run.Caller) []ui.Patch {
			return ui.List(ui.AsksList(s.engine.Inbox(who, listedAsks)))
		},
		"ask": func(who run.Caller) []ui.Patch { return s.watchAsk(r, who, r.URL.Query().Get("ask")) },
	}
}
