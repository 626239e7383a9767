package photons

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Start starts a run from a form, and redirects to the run's page, or from JSON
// arguments, and responds with the run's URLs.
func (h *Handlers) Start(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	photon, err := h.lookup(r, caller)
	if err != nil {
		return err
	}
	key, err := request.IdempotencyKey(r)
	if err != nil {
		return err
	}
	switch request.MediaType(r) {
	case request.JSONType:
		return h.startFromJSON(w, r, caller, photon, key)
	case request.FormType:
		return h.startFromForm(w, r, caller, photon, key)
	}
	return request.UnsupportedMediaType(r, request.JSONType+" or "+request.FormType)
}

func (h *Handlers) startFromJSON(w http.ResponseWriter, r *http.Request, caller generators.Caller, p *generators.Photon, key string) error {
	args, err := request.ReadBody(w, r)
	if err != nil {
		return err
	}
	if len(args) > 0 && !json.Valid(args) {
		return problem.Errorf(http.StatusBadRequest, "The body is not valid JSON.")
	}
	info, err := h.Engine.Start(r.Context(), caller, engine.StartRequest{
		Photon: p.Name(), Args: args, Surface: request.SurfaceOf(r), IdempotencyKey: key,
	})
	if err != nil {
		return err
	}
	return response.Started(w, h.Site.Path, info.ID)
}

func (h *Handlers) startFromForm(w http.ResponseWriter, r *http.Request, caller generators.Caller, p *generators.Photon, key string) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	page, args, err := readPhotonForm(p, r.PostForm, lastValue(r.PostForm, sourceField) == "json")
	var info engine.Info
	if err == nil {
		info, err = h.startOrFork(r, caller, page, args, engine.StartRequest{Photon: p.Name(), Args: args, Surface: "browser", IdempotencyKey: key})
	} else {
		err = withSchemaErrors(p, args, err)
	}
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) && !request.WantsJSON(r) {
		if page.JSONError == "" {
			page.Errors = invalid.Fields
		}
		return h.Pages.Render(w, r, http.StatusUnprocessableEntity, ui.PhotonDetails(h.Pages.Chrome(r, caller, p.Title()), page))
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, h.Site.Path.Run(info.ID), http.StatusSeeOther)
	return nil
}

// startOrFork starts a run, or forks the one that the form names.
func (h *Handlers) startOrFork(r *http.Request, caller generators.Caller, page ui.PhotonPage, args json.RawMessage, start engine.StartRequest) (engine.Info, error) {
	if page.Fork == "" {
		return h.Engine.Start(r.Context(), caller, start)
	}
	until, err := request.Ordinal(r.PostForm, untilField)
	if err == nil {
		_, err = h.inputOf(r, caller, start.Photon, page.Fork)
	}
	if err != nil {
		return engine.Info{}, err
	}
	return h.Engine.Fork(r.Context(), caller, page.Fork, until, args, start)
}

// withSchemaErrors adds the errors of the photon's schema to those of its form.
func withSchemaErrors(p *generators.Photon, args json.RawMessage, err error) error {
	var ofForm, ofSchema *generators.InvalidError
	_, checked := p.Check(args)
	if args == nil || !errors.As(err, &ofForm) || !errors.As(checked, &ofSchema) {
		return err
	}
	return &generators.InvalidError{Fields: append(ofForm.Fields, ofSchema.Fields...)}
}
