package photons

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/ui"
)

// The fields of a photon's form that are no arguments.
const (
	// argumentsField holds all arguments of a run to repeat, as JSON.
	argumentsField = "beam:args"
	jsonField      = "beam:json"   // the arguments as JSON, beside the form
	sourceField    = "beam:source" // "json" if they count instead of the form
	editField      = "beam:do"     // what a button changes in the form
	viewField      = "beam:view"   // what a narrow screen shows
	forkField      = "beam:fork"   // the run to fork
	untilField     = "beam:until"  // up to which of its entries
)

// editFromJSON fills the form with the JSON beside it.
const editFromJSON = "fill"

// readPhotonForm reads a photon's arguments from a form, or from the JSON beside it. The
// page shows what was posted. The error is a [*generators.InvalidError] for what the
// photon's schema doesn't see.
func readPhotonForm(p *generators.Photon, posted url.Values, fromJSON bool) (ui.PhotonPage, json.RawMessage, error) {
	page, f := newPhotonPage(p), form.ForPhoton(p)
	page.View, page.Fork, page.Until = posted.Get(viewField), posted.Get(forkField), posted.Get(untilField)
	if args := posted.Get(argumentsField); json.Valid([]byte(args)) {
		page.Form = f.Fill(json.RawMessage(args))
		return page, json.RawMessage(args), nil
	}
	if !fromJSON {
		page.Form = f.Read(posted, form.TimeZone(posted))
		return page, page.Form.Content(), invalidUnless(page.Form.Problems())
	}
	page.JSON = strings.ReplaceAll(posted.Get(jsonField), "\r\n", "\n")
	if message := form.SyntaxError(page.JSON); message != "" {
		page.JSONError = driver.Sentence(generators.FieldError{Message: message}, "The text")
		page.Form = f.Read(posted, form.TimeZone(posted))
		return page, nil, invalidUnless([]generators.FieldError{{Message: message}})
	}
	args := json.RawMessage(cmp.Or(strings.TrimSpace(page.JSON), "{}"))
	if page.Form = f.Fill(args); page.Form.AddSecrets(posted) {
		args = page.Form.Content()
	}
	return page, args, nil
}

// invalidUnless returns an error unless there are no problems.
func invalidUnless(problems []generators.FieldError) error {
	if len(problems) == 0 {
		return nil
	}
	return &generators.InvalidError{Fields: problems}
}

// lastValue returns the last value of a field: that of the button that was pressed.
func lastValue(posted url.Values, name string) string {
	if values := posted[name]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// EditForm changes a photon's form: it adds, removes or moves a part, or makes the
// form and the JSON beside it follow each other. Nothing starts, and nothing is kept. The
// response is the arguments, if the client prefers JSON, the form alone for a page with
// script, or the whole page.
func (h *Handlers) EditForm(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	p, err := h.lookup(r, caller)
	if err != nil {
		return err
	}
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	action := lastValue(r.PostForm, editField)
	page, _, err := readPhotonForm(p, r.PostForm, action == editFromJSON)
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) && page.JSONError == "" {
		page.Errors = invalid.Fields
	}
	if request.WantsJSON(r) {
		w.Header().Set("Content-Type", request.JSONType)
		w.Header().Set("Cache-Control", "no-store")
		_, err := w.Write([]byte(form.Indent(page.Form.WithoutSecrets())))
		return err
	}
	if strings.Contains(action, " ") && !strings.HasPrefix(action, "show") {
		if page.Focus, page.Said, err = page.Form.Edit(action); err != nil {
			return problem.Errorf(http.StatusBadRequest, "%s", problem.Sentence(err.Error()))
		}
		page.Errors = nil
	}
	if request.IsDatastar(r) {
		return h.Pages.Render(w, r, http.StatusOK, ui.StartForm(page))
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.PhotonDetails(h.Pages.Chrome(r, caller, p.Title()), page))
}

// EditedForm leads from the address of a changed form to the photon's page.
func (h *Handlers) EditedForm(w http.ResponseWriter, r *http.Request, _ generators.Caller) error {
	http.Redirect(w, r, h.Site.Path.Photon(r.PathValue("name")), http.StatusSeeOther)
	return nil
}
