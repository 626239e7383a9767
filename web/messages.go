package web

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
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
	switch format := query.Get("format"); format {
	case "":
	case "jsonl":
		return s.exportMessages(w, r, caller, info, page.Filter)
	default:
		return statusErrorf(http.StatusBadRequest, "The parameter format must be jsonl, or missing.")
	}
	if err := s.eachMessage(r, caller, info, func(m wire.Message) bool { page.Add(m); return true }); err != nil {
		return err
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"messages": nonNil(page.Messages), "earlier": page.Earlier, "later": page.Later})
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
	p := &wire.Page{Filter: wire.Filter{Text: query.Get("q"), Method: query.Get("method"), Direction: wire.Direction(query.Get("direction"))}}
	switch {
	case len(p.Text) > maxFilterText:
		return nil, statusErrorf(http.StatusBadRequest, "The parameter q must be at most %d bytes long.", maxFilterText)
	case p.Method != "" && !slices.Contains(wire.Methods, p.Method):
		return nil, statusErrorf(http.StatusBadRequest, "The parameter method is not the method of a message of runs.")
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

// eachMessage calls add with the messages of a run so far, until it returns false.
func (s *Server) eachMessage(r *http.Request, caller generators.Caller, info engine.Info, add func(wire.Message) bool) error {
	batches, err := s.engine.Read(r.Context(), caller, info.ID, 0)
	if err != nil {
		return err
	}
	view := wire.NewView(info.ID, sse.NewJSONRPCRenderer(r.Context(), s.jsonrpcRun(r, caller, info), 0))
	for batch, err := range batches {
		if err != nil {
			return err
		}
		for _, e := range batch {
			m, ok, err := view.Translate(e)
			if err != nil {
				return err
			}
			if ok && !add(m) {
				return nil
			}
		}
	}
	return nil
}

// exportMessages writes the messages that match, one a line.
func (s *Server) exportMessages(w http.ResponseWriter, r *http.Request, caller generators.Caller, info engine.Info, filter wire.Filter) error {
	h := w.Header()
	h.Set("Content-Type", "application/jsonl")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": exportName(info) + ".jsonl"}))
	err := s.eachMessage(r, caller, info, func(m wire.Message) bool {
		if !filter.Matches(&m) {
			return true
		}
		line, err := json.Marshal(m)
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		return err == nil
	})
	if err != nil {
		s.logger.Error("exporting messages", "run", info.ID, "err", err) // the status is sent already
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
	var found *wire.Message
	if err := s.eachMessage(r, caller, info, func(m wire.Message) bool {
		if m.Seq == seq {
			found = &m
		}
		return m.Seq < seq
	}); err != nil {
		return err
	}
	if found == nil {
		return errPageNotFound
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	io.WriteString(w, string(found.Message)+"\n")
	return nil
}
