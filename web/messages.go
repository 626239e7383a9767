package web

import (
	"encoding/json"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/ui"
	"github.com/photon-beam/beam/web/internal/wire"
)

// How many messages a list has at most.
const messagesPerPage = 100

// handleMessages serves the messages of a run: a page of them, as a page or as JSON, or all
// that match as JSON lines.
func (s *Server) handleMessages(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	info, err := s.engine.Info(caller, r.PathValue("id"))
	if err != nil {
		return err
	}
	query := r.URL.Query()
	page, err := parseMessagePage(query)
	if err != nil {
		return err
	}
	messages, err := s.messagesOf(r, caller, info, page)
	if err != nil {
		return err
	}
	if page.Method != "" && !slices.Contains(page.Methods, page.Method) {
		return statusErrorf(http.StatusBadRequest, "The parameter method is not the method of a message of this run.")
	}
	switch format := query.Get("format"); format {
	case "":
	case "jsonl":
		return s.exportMessages(w, info, page.Filter, messages)
	default:
		return statusErrorf(http.StatusBadRequest, "The parameter format must be jsonl, or missing.")
	}
	for m, err := range messages {
		if err != nil {
			return err
		}
		page.Add(m)
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{
			"source": page.Source, "recorded": page.Recorded, "dropped": page.Dropped,
			"messages": nonNil(page.Messages), "earlier": page.Earlier, "later": page.Later,
		})
		return nil
	}
	run, err := s.loadTimeline(r, caller, info.ID)
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, ui.MessagesPage(s.newChrome(r, caller, "Messages"), run, page))
}

// parseMessagePage reads which messages a list is to have.
func parseMessagePage(query url.Values) (*wire.Page, error) {
	p := &wire.Page{
		Filter: wire.Filter{
			Text: query.Get("q"), Method: query.Get("method"),
			Direction: wire.Direction(query.Get("direction")), Side: recording.Side(query.Get("side")),
		},
		Source: wire.Source(query.Get("source")),
	}
	switch {
	case len(p.Text) > maxFilterText:
		return nil, statusErrorf(http.StatusBadRequest, "The parameter q must be at most %d bytes long.", maxFilterText)
	case p.Source != "" && p.Source != wire.Wire && p.Source != wire.Log:
		return nil, statusErrorf(http.StatusBadRequest, "The parameter source must be wire or log.")
	case p.Side != "" && p.Side != recording.Client && p.Side != recording.Upstream:
		return nil, statusErrorf(http.StatusBadRequest, "The parameter side must be client or upstream.")
	case p.Direction != "" && p.Direction != wire.ToClient && p.Direction != wire.FromClient:
		return nil, statusErrorf(http.StatusBadRequest, "The parameter direction must be in or out.")
	}
	var err error
	if p.Limit, err = parseLimit(query, messagesPerPage); err != nil {
		return nil, err
	}
	if p.After, err = parseOrdinal(query, "after"); err != nil {
		return nil, err
	}
	p.Before, err = parseOrdinal(query, "before")
	return p, err
}

// parseOrdinal parses a parameter that is the ordinal of a log entry; 0 if it is missing.
func parseOrdinal(query url.Values, name string) (uint64, error) {
	text := query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, statusErrorf(http.StatusBadRequest, "The parameter %s must be the number of a log entry.", name)
	}
	return n, nil
}

// messagesOf returns the messages of a run so far, from the page's source, which it sets if
// the page has none. An error is the last.
func (s *Server) messagesOf(r *http.Request, caller generators.Caller, info engine.Info, page *wire.Page) (iter.Seq2[wire.Message, error], error) {
	recorded, err := s.engine.Messages(caller, info.ID)
	if err != nil {
		return nil, err
	}
	page.Describe(recorded)
	if page.Source == wire.Log {
		return s.derivedMessages(r, caller, info), nil
	}
	return func(yield func(wire.Message, error) bool) {
		for _, m := range recorded {
			if !yield(m, nil) {
				return
			}
		}
	}, nil
}

// derivedMessages yields the messages that an MCP client would have of a run, as its log
// says.
func (s *Server) derivedMessages(r *http.Request, caller generators.Caller, info engine.Info) iter.Seq2[wire.Message, error] {
	return func(yield func(wire.Message, error) bool) {
		batches, err := s.engine.Read(r.Context(), caller, info.ID, 0)
		if err != nil {
			yield(wire.Message{}, err)
			return
		}
		run := s.jsonrpcRun(r, caller, info)
		run.Source = recordedSource{run.Source}
		view := wire.NewView(info.ID, sse.NewJSONRPCRenderer(r.Context(), run, 0))
		for batch, err := range batches {
			if err != nil {
				yield(wire.Message{}, err)
				return
			}
			for _, e := range batch {
				m, ok, err := view.Translate(e)
				if (ok || err != nil) && !yield(m, err) || err != nil {
					return
				}
			}
		}
	}
}

// A recordedSource has no result that is kept for the run's client and must not be in the
// log.
type recordedSource struct{ message.Source }

// Content implements [message.Source].
func (s recordedSource) Content(end *runlog.Finished) (json.RawMessage, error) {
	if end.Content == nil && end.ContentBlob == "" {
		return nil, nil
	}
	return s.Source.Content(end)
}

// exportMessages writes the messages that match, one a line.
func (s *Server) exportMessages(w http.ResponseWriter, info engine.Info, filter wire.Filter, messages iter.Seq2[wire.Message, error]) error {
	h := w.Header()
	h.Set("Content-Type", "application/jsonl")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": exportName(info) + ".jsonl"}))
	for m, err := range messages {
		if err == nil && filter.Matches(&m) {
			var line []byte
			if line, err = json.Marshal(m); err == nil {
				_, err = w.Write(append(line, '\n'))
			}
		}
		if err != nil {
			s.logger.Error("exporting messages", "run", info.ID, "err", err) // the status is sent already
			return nil
		}
	}
	return nil
}

// handleMessage serves one message of a run, as it is.
func (s *Server) handleMessage(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	info, err := s.engine.Info(caller, r.PathValue("id"))
	if err != nil {
		return err
	}
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return errPageNotFound
	}
	page, err := parseMessagePage(r.URL.Query())
	if err != nil {
		return err
	}
	messages, err := s.messagesOf(r, caller, info, page)
	if err != nil {
		return err
	}
	for m, err := range messages {
		switch {
		case err != nil:
			return err
		case m.Seq > seq:
			return errPageNotFound
		case m.Seq == seq:
			w.Header().Set("Content-Type", jsonType)
			w.Header().Set("Cache-Control", "no-store")
			_, err := w.Write(append(slices.Clone(m.Message), '\n'))
			return err
		}
	}
	return errPageNotFound
}
