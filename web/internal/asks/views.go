package asks

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Views render what the handlers of questions have in common: what is wrong with an answer, and
// questions that can no longer be answered.
type Views struct {
	Engine   *engine.Engine
	Loader   *timeline.Loader
	Sampling *sampling.Service // nil if no models are configured
	// OwnSignIn means that the program that embeds Beam identifies the callers.
	OwnSignIn bool
	Links     links.Base
	Pages     *page.Renderer
	Logger    *slog.Logger
}

// isForModel reports whether a question can be sent to a configured model.
func (v *Views) isForModel(open engine.OpenAsk) bool {
	return v.Sampling != nil && open.Question != nil && open.Question.Kind == askdata.KindSample
}

// onRunPage returns the address of a question on its run's page.
func (v *Views) onRunPage(open engine.OpenAsk) string {
	return v.Links.Run(open.Run) + "#" + ui.AskElementID(open.ID)
}

// renderClosed renders the page of a closed question. If the request is an answer from a
// form, which was too late, the page shows what was entered.
func (v *Views) renderClosed(w http.ResponseWriter, r *http.Request, caller generators.Caller, id string, status int) error {
	a, err := v.Loader.LoadAsk(r.Context(), caller, id)
	switch {
	case err != nil:
		return err
	case a == nil:
		return engine.ErrAskNotFound
	}
	if r.Method == http.MethodPost && r.PostForm == nil {
		if err := request.ParseAnyForm(w, r); err != nil {
			v.Logger.Debug("reading a late answer", "ask", id, "err", err) // such as large files
		}
	}
	return v.Pages.Render(w, r, status, ui.AskClosedPage(v.Pages.Chrome(r, caller, a.Title), a, r.PostForm))
}

// renderUnanswerable says why a question can no longer be answered: as a patch for a
// page with script, as a whole page for a browser without. Other clients get the error.
func (v *Views) renderUnanswerable(w http.ResponseWriter, r *http.Request, caller generators.Caller, id string, err error) error {
	settled := errors.Is(err, engine.ErrSettled)
	switch {
	case settled && request.WantsHTML(r):
		return v.renderClosed(w, r, caller, id, http.StatusConflict)
	case !request.IsDatastar(r):
		return err
	}
	if settled {
		if a, _ := v.Loader.LoadAsk(r.Context(), caller, id); a != nil {
			return v.Pages.Render(w, r, http.StatusOK, ui.AskClosedInDock(a))
		}
	}
	_, text, _ := problem.Classify(err)
	return v.Pages.Render(w, r, http.StatusOK, ui.AskUnavailable(engine.OpenAsk{ID: id}, text))
}

// renderInvalidForm renders the form with its errors: a page with script gets a patch,
// which must have status 200, and a page without script gets a whole page.
func (v *Views) renderInvalidForm(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk, err error) error {
	var invalid *generators.InvalidError
	switch {
	case !errors.As(err, &invalid):
		return v.renderUnanswerable(w, r, caller, open.ID, err)
	case v.isForModel(open) && (request.IsDatastar(r) || request.WantsHTML(r)):
		return v.renderInvalidSample(w, r, caller, open, invalid.Fields)
	case request.IsDatastar(r):
		return v.Pages.Render(w, r, http.StatusOK, ui.AskForm(open, invalid.Fields, nil))
	case request.WantsHTML(r):
		return v.Pages.Render(w, r, http.StatusUnprocessableEntity,
			ui.AskPage(v.Pages.Chrome(r, caller, open.Title), open, invalid.Fields, r.PostForm))
	}
	return err
}

// renderInvalidSample renders a question to a model with errors: a patch for a page with
// script, and the run's page without.
func (v *Views) renderInvalidSample(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk, errs []generators.FieldError) error {
	run, err := v.Loader.Load(r.Context(), caller, open.Run)
	if err != nil {
		return err
	}
	a := run.Ask(open.ID)
	switch {
	case a == nil || !a.Settled.IsZero():
		return v.renderUnanswerable(w, r, caller, open.ID, engine.ErrSettled)
	case request.IsDatastar(r):
		return v.Pages.Render(w, r, http.StatusOK, ui.SampleForm(a, v.Sampling.Models(), errs, nil))
	}
	var shown *ui.Preview
	if r.PostForm != nil {
		shown = new(ui.PreviewErrors(errs))
	}
	return v.Pages.Render(w, r, http.StatusUnprocessableEntity, ui.SamplePage(v.Pages.Chrome(r, caller, open.Title), a, v.Sampling.Models(), errs, r.PostForm, shown))
}

// describe returns an open question as JSON has it: one to a model with where it
// stands.
func (v *Views) describe(r *http.Request, caller generators.Caller, open engine.OpenAsk) any {
	if !v.isForModel(open) {
		return open
	}
	state, err := v.Sampling.State(r.Context(), caller, open.ID)
	if err != nil {
		v.Logger.Error("reading what a model was asked", "ask", open.ID, "err", err)
		return open
	}
	return struct {
		engine.OpenAsk
		Sampling any `json:"sampling"`
	}{open, v.Sampling.Describe(asking.SampleOf(open.Question), state)}
}
