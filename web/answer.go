package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// handleAnswer records an answer: a JSON-RPC response to a question from a stream, or the
// form that a page posts.
func (s *Server) handleAnswer(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	switch request.MediaType(r) {
	case request.JSONType:
		return s.handleRPCAnswer(w, r, caller)
	case request.FormType, request.MultipartType:
		return s.handleFormAnswer(w, r, caller)
	}
	err := request.UnsupportedMediaType(r, request.JSONType+", "+request.FormType+" or "+request.MultipartType)
	if strings.HasSuffix(request.MediaType(r), "json") || request.WantsJSON(r) {
		s.writeRPCError(w, r, nil, err)
		return nil
	}
	return err
}

// handleFormAnswer records the form that a page posts. The query names the question and
// the action, so that they can't be confused with fields.
func (s *Server) handleFormAnswer(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.URL.Query().Get("ask")
	open, err := s.engine.OpenAsk(r.Context(), caller, id)
	if err == nil && open.Excluded {
		err = &engine.OthersAnswerError{Who: open.For}
	}
	if err != nil {
		return s.renderUnanswerable(w, r, caller, id, err)
	}
	a := ask.Answer{Action: ask.Action(r.URL.Query().Get("action"))}
	if a.Action == ask.Accept {
		if a, err = s.readFormAnswer(w, r, caller, open); err != nil {
			s.discardUploads(open, a)
			return s.renderInvalidForm(w, r, caller, open, err)
		}
	}
	surface, rendered := "browser", ui.RenderingOf(open)
	if request.IsTerminal(r) {
		surface, rendered = request.TerminalSurface, request.RenderedInTerminal(r)
	}
	defer s.unacknowledged.add(open.Run)()
	if err := s.engine.AnswerShown(r.Context(), caller, id, a, surface, rendered); err != nil {
		s.discardUploads(open, a)
		return s.renderInvalidForm(w, r, caller, open, err)
	}
	if open.AskOnly {
		return response.RedirectOrAccept(w, r, s.links.Inbox())
	}
	return response.RedirectOrAccept(w, r, s.links.Run(open.Run))
}

// readFormAnswer reads the answer from a form.
func (s *Server) readFormAnswer(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk) (ask.Answer, error) {
	a := ask.Answer{Action: ask.Accept}
	if open.Question.Kind == ask.KindFile {
		return s.storeUploads(w, r, caller, open)
	}
	if err := request.ParseAnyForm(w, r); err != nil {
		return a, err
	}
	a.Content = form.Decode(open.Question.Fields, r.PostForm, form.TimeZone(r.PostForm))
	return a, nil
}

// renderInvalidForm renders the form with its errors: a page with script gets a patch,
// which must have status 200, and a page without script gets a whole page.
func (s *Server) renderInvalidForm(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk, err error) error {
	var invalid *generators.InvalidError
	switch {
	case !errors.As(err, &invalid):
		return s.renderUnanswerable(w, r, caller, open.ID, err)
	case s.isForModel(open) && (request.IsDatastar(r) || request.WantsHTML(r)):
		return s.renderInvalidSample(w, r, caller, open, invalid.Fields)
	case request.IsDatastar(r):
		return s.render(w, r, http.StatusOK, ui.AskForm(open, invalid.Fields, nil))
	case request.WantsHTML(r):
		return s.render(w, r, http.StatusUnprocessableEntity,
			ui.AskPage(s.newChrome(r, caller, open.Title), open, invalid.Fields, r.PostForm))
	}
	return err
}
