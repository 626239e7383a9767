package asks

import (
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/stream"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Answers record answers.
type Answers struct {
	*Views
	Pending *stream.Pending
}

// Answer records an answer: a JSON-RPC response to a question from a stream, or the
// form that a page posts.
func (h *Answers) Answer(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	switch request.MediaType(r) {
	case request.JSONType:
		return h.answerResponse(w, r, caller)
	case request.FormType, request.MultipartType:
		return h.answerForm(w, r, caller)
	}
	err := request.UnsupportedMediaType(r, request.JSONType+", "+request.FormType+" or "+request.MultipartType)
	if strings.HasSuffix(request.MediaType(r), "json") || request.WantsJSON(r) {
		return h.writeRPCError(w, r, nil, err)
	}
	return err
}

// answerForm records the form that a page posts. The query names the question and
// the action, so that they can't be confused with fields.
func (h *Answers) answerForm(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.URL.Query().Get("ask")
	open, err := h.Engine.OpenAsk(r.Context(), caller, id)
	if err == nil {
		err = open.Refusal()
	}
	if err != nil {
		return h.renderUnanswerable(w, r, caller, id, err)
	}
	a := askdata.Answer{Action: askdata.Action(r.URL.Query().Get("action"))}
	if a.Action == askdata.Accept {
		if a, err = h.readFormAnswer(w, r, caller, open); err != nil {
			h.discardUploads(open, a)
			return h.renderInvalidForm(w, r, caller, open, err)
		}
	}
	surface, rendered := "browser", ui.RenderingOf(open)
	if request.IsTerminal(r) {
		surface, rendered = request.TerminalSurface, request.RenderedInTerminal(r)
	}
	defer h.Pending.Add(open.Run)()
	if err := h.Engine.AnswerShown(r.Context(), caller, id, a, surface, rendered); err != nil {
		h.discardUploads(open, a)
		return h.renderInvalidForm(w, r, caller, open, err)
	}
	if open.AskOnly {
		return response.RedirectOrAccept(w, r, h.Links.Inbox())
	}
	return response.RedirectOrAccept(w, r, h.Links.Run(open.Run))
}

// readFormAnswer reads the answer from a form.
func (h *Answers) readFormAnswer(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk) (askdata.Answer, error) {
	a := askdata.Answer{Action: askdata.Accept}
	if open.Question.Kind == askdata.KindFile {
		return h.storeUploads(w, r, caller, open)
	}
	if err := request.ParseAnyForm(w, r); err != nil {
		return a, err
	}
	a.Content = form.Decode(open.Question.Fields, r.PostForm, form.TimeZone(r.PostForm))
	return a, nil
}
