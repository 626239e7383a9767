package runs

import (
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
	"github.com/photon-beam/beam/web/internal/wire"
)

// How many messages a list has at most.
const messagesPerPage = 100

// ListMessages serves the messages of a run: a page of them, as a page or as JSON, or all
// that match as JSON lines.
func (h *Handlers) ListMessages(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	info, page, messages, err := h.openMessages(r, caller)
	if err != nil {
		return err
	}
	if page.Method != "" && !slices.Contains(page.Methods, page.Method) {
		return problem.Errorf(http.StatusBadRequest, "The parameter method is not the method of a message of this run.")
	}
	switch r.URL.Query().Get("format") {
	case "":
	case "jsonl":
		return h.exportMessages(w, info, page.Filter, messages)
	default:
		return problem.Errorf(http.StatusBadRequest, "The parameter format must be jsonl, or missing.")
	}
	for m, err := range messages {
		if err != nil {
			return err
		}
		page.Add(m)
	}
	if request.WantsJSON(r) {
		return response.JSON(w, http.StatusOK, map[string]any{
			"source": page.Source, "recorded": page.Recorded, "dropped": page.Dropped,
			"messages": response.NonNil(page.Messages), "earlier": page.Earlier, "later": page.Later,
		})
	}
	run, err := h.Loader.Load(r.Context(), caller, info.ID)
	if err != nil {
		return err
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.MessagesPage(h.Pages.Chrome(r, caller, "Messages"), run, page))
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
	case len(p.Text) > request.MaxText:
		return nil, problem.Errorf(http.StatusBadRequest, "The parameter q must be at most %d bytes long.", request.MaxText)
	case p.Source != "" && p.Source != wire.Wire && p.Source != wire.Log:
		return nil, problem.Errorf(http.StatusBadRequest, "The parameter source must be wire or log.")
	case p.Side != "" && p.Side != recording.Client && p.Side != recording.Upstream:
		return nil, problem.Errorf(http.StatusBadRequest, "The parameter side must be client or upstream.")
	case p.Direction != "" && p.Direction != wire.ToClient && p.Direction != wire.FromClient:
		return nil, problem.Errorf(http.StatusBadRequest, "The parameter direction must be in or out.")
	}
	var err error
	if p.Limit, err = request.Limit(query, messagesPerPage); err != nil {
		return nil, err
	}
	if p.After, err = request.Ordinal(query, "after"); err != nil {
		return nil, err
	}
	p.Before, err = request.Ordinal(query, "before")
	return p, err
}

// openMessages returns the messages so far of the run that a request names, and the page that it
// wants. They are from the page's source, which is chosen if the request names none. An error is
// the last.
func (h *Handlers) openMessages(r *http.Request, caller generators.Caller) (info engine.Info, page *wire.Page, messages iter.Seq2[wire.Message, error], err error) {
	if info, err = h.Engine.Info(caller, r.PathValue("id")); err != nil {
		return info, nil, nil, err
	}
	if page, err = parseMessagePage(r.URL.Query()); err != nil {
		return info, nil, nil, err
	}
	recorded, err := h.Engine.Messages(caller, info.ID)
	if err != nil {
		return info, nil, nil, err
	}
	page.Describe(recorded)
	if page.Source == wire.Log {
		return info, page, h.derivedMessages(r, caller, info), nil
	}
	return info, page, func(yield func(wire.Message, error) bool) {
		for _, m := range recorded {
			if !yield(m, nil) {
				return
			}
		}
	}, nil
}

// derivedMessages yields the messages that an MCP client would have of a run, as its log
// says.
func (h *Handlers) derivedMessages(r *http.Request, caller generators.Caller, info engine.Info) iter.Seq2[wire.Message, error] {
	return func(yield func(wire.Message, error) bool) {
		batches, err := h.Engine.Read(r.Context(), caller, info.ID, 0)
		if err != nil {
			yield(wire.Message{}, err)
			return
		}
		view := wire.NewView(info.ID, sse.NewJSONRPCRenderer(r.Context(), h.Messages.DescribeRecorded(caller, info, h.Site.BaseURL(r)), 0))
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

// exportMessages writes the messages that match, one a line.
func (h *Handlers) exportMessages(w http.ResponseWriter, info engine.Info, filter wire.Filter, messages iter.Seq2[wire.Message, error]) error {
	header := w.Header()
	header.Set("Content-Type", "application/jsonl")
	header.Set("Cache-Control", "no-store")
	response.Attachment(w, exportName(info)+".jsonl")
	for m, err := range messages {
		if err == nil && filter.Matches(&m) {
			var line []byte
			if line, err = json.Marshal(m); err == nil {
				_, err = w.Write(append(line, '\n'))
			}
		}
		if err != nil {
			h.Logger.Error("exporting messages", "run", info.ID, "err", err) // the status is sent already
			return nil
		}
	}
	return nil
}

// ShowMessage serves one message of a run, as it is.
func (h *Handlers) ShowMessage(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	_, _, messages, err := h.openMessages(r, caller)
	if err != nil {
		return err
	}
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return problem.ErrPageNotFound
	}
	for m, err := range messages {
		switch {
		case err != nil:
			return err
		case m.Seq > seq:
			return problem.ErrPageNotFound
		case m.Seq == seq:
			w.Header().Set("Content-Type", request.JSONType)
			w.Header().Set("Cache-Control", "no-store")
			_, err := w.Write(append(slices.Clone(m.Message), '\n'))
			return err
		}
	}
	return problem.ErrPageNotFound
}
