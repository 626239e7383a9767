package web

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// handleStart starts a run from a form, and redirects to the run's page, or from JSON
// arguments, and responds with the run's URLs.
func (s *Server) handleStart(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	photon, err := s.lookupPhoton(r, caller)
	if err != nil {
		return err
	}
	key, err := request.IdempotencyKey(r)
	if err != nil {
		return err
	}
	switch request.MediaType(r) {
	case request.JSONType:
		return s.startFromJSON(w, r, caller, photon, key)
	case request.FormType:
		return s.startFromForm(w, r, caller, photon, key)
	}
	return request.UnsupportedMediaType(r, request.JSONType+" or "+request.FormType)
}

func (s *Server) startFromJSON(w http.ResponseWriter, r *http.Request, caller generators.Caller, p *generators.Photon, key string) error {
	args, err := request.ReadBody(w, r)
	if err != nil {
		return err
	}
	if len(args) > 0 && !json.Valid(args) {
		return problem.Errorf(http.StatusBadRequest, "The body is not valid JSON.")
	}
	info, err := s.engine.Start(r.Context(), caller, engine.StartRequest{
		Photon: p.Name(), Args: args, Surface: request.SurfaceOf(r), IdempotencyKey: key,
	})
	if err != nil {
		return err
	}
	response.Started(w, s.links, info.ID)
	return nil
}

// handleReplay starts a run with the input of another one, and its answers up to the entry
// whose ordinal is the parameter until; all of them if it is missing.
func (s *Server) handleReplay(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	key, err := request.IdempotencyKey(r)
	if err != nil {
		return err
	}
	until := uint64(math.MaxUint64)
	if r.Form.Get("until") != "" {
		if until, err = request.Ordinal(r.Form, "until"); err != nil {
			return err
		}
	}
	info, err := s.engine.Replay(r.Context(), caller, r.PathValue("id"), until, engine.StartRequest{
		Surface: request.SurfaceOf(r), IdempotencyKey: key,
	})
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		response.Started(w, s.links, info.ID)
		return nil
	}
	http.Redirect(w, r, s.links.Run(info.ID), http.StatusSeeOther)
	return nil
}

func (s *Server) startFromForm(w http.ResponseWriter, r *http.Request, caller generators.Caller, p *generators.Photon, key string) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	page, args, err := readPhotonForm(p, r.PostForm, lastValue(r.PostForm, sourceField) == "json")
	var info engine.Info
	if err == nil {
		info, err = s.engine.Start(r.Context(), caller, engine.StartRequest{
			Photon: p.Name(), Args: args, Surface: "browser", IdempotencyKey: key,
		})
	} else {
		err = withSchemaErrors(p, args, err)
	}
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) && !request.WantsJSON(r) {
		if page.JSONError == "" {
			page.Errors = invalid.Fields
		}
		return s.render(w, r, http.StatusUnprocessableEntity, ui.PhotonDetails(s.newChrome(r, caller, p.Title()), page))
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, s.links.Run(info.ID), http.StatusSeeOther)
	return nil
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

// handleCancel stops a run.
func (s *Server) handleCancel(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	surface := request.SurfaceOf(r)
	if request.IsDatastar(r) || request.WantsHTML(r) {
		surface = "browser"
	}
	if err := s.engine.Cancel(r.Context(), caller, id, surface); err != nil {
		return err
	}
	return response.RedirectOrAccept(w, r, s.links.Run(id))
}

// handleAdopt makes the operator the owner of another caller's run.
func (s *Server) handleAdopt(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	if err := s.engine.Adopt(r.Context(), caller, id); err != nil {
		return err
	}
	if !request.WantsJSON(r) {
		return response.RedirectOrAccept(w, r, s.links.Run(id))
	}
	info, err := s.engine.Info(caller, id)
	if err != nil {
		return err
	}
	response.JSON(w, http.StatusOK, info)
	return nil
}
