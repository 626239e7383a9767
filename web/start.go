package web

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/streamable"
	"github.com/photon-beam/beam/web/internal/ui"
)

// handleStart starts a run from a form, and redirects to the run's page, or from JSON
// arguments, and responds with the run's URLs.
func (s *Server) handleStart(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	photon, err := s.lookupPhoton(r, caller)
	if err != nil {
		return err
	}
	if err := checkIdempotencyKey(r); err != nil {
		return err
	}
	switch mediaType(r) {
	case jsonType:
		return s.startFromJSON(w, r, caller, photon)
	case formType:
		return s.startFromForm(w, r, caller, photon)
	}
	return unsupportedMediaType(r, jsonType+" or "+formType)
}

func (s *Server) startFromJSON(w http.ResponseWriter, r *http.Request, caller generators.Caller, p *generators.Photon) error {
	args, err := readBody(w, r)
	if err != nil {
		return err
	}
	if len(args) > 0 && !json.Valid(args) {
		return statusErrorf(http.StatusBadRequest, "The body is not valid JSON.")
	}
	info, err := s.engine.Start(r.Context(), caller, engine.StartRequest{
		Photon: p.Name(), Args: args, Surface: surfaceOf(r), IdempotencyKey: r.Header.Get("Idempotency-Key"),
	})
	if err != nil {
		return err
	}
	s.writeStarted(w, info.ID)
	return nil
}

// writeStarted responds with the URLs of a run that was started.
func (s *Server) writeStarted(w http.ResponseWriter, run string) {
	w.Header().Set("Location", s.links.Run(run))
	writeJSON(w, http.StatusCreated, map[string]string{"id": run, "url": s.links.Run(run), "events": s.links.RunEvents(run)})
}

// handleReplay starts a run with the input of another one, and its answers up to the entry
// whose ordinal is the parameter until; all of them if it is missing.
func (s *Server) handleReplay(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	if err := checkIdempotencyKey(r); err != nil {
		return err
	}
	until := uint64(math.MaxUint64)
	if r.Form.Get("until") != "" {
		var err error
		if until, err = parseOrdinal(r.Form, "until"); err != nil {
			return err
		}
	}
	info, err := s.engine.Replay(r.Context(), caller, r.PathValue("id"), until, engine.StartRequest{
		Surface: surfaceOf(r), IdempotencyKey: r.Header.Get("Idempotency-Key"),
	})
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		s.writeStarted(w, info.ID)
		return nil
	}
	http.Redirect(w, r, s.links.Run(info.ID), http.StatusSeeOther)
	return nil
}

func (s *Server) startFromForm(w http.ResponseWriter, r *http.Request, caller generators.Caller, p *generators.Photon) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	page, args, err := readPhotonForm(p, r.PostForm, lastValue(r.PostForm, sourceField) == "json")
	var info engine.Info
	if err == nil {
		info, err = s.engine.Start(r.Context(), caller, engine.StartRequest{
			Photon: p.Name(), Args: args, Surface: "browser", IdempotencyKey: r.Header.Get("Idempotency-Key"),
		})
	} else {
		err = withSchemaErrors(p, args, err)
	}
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) && !wantsJSON(r) {
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

// maxIdempotencyKey is the longest Idempotency-Key, in bytes. The log keeps the key.
const maxIdempotencyKey = 255

func checkIdempotencyKey(r *http.Request) error {
	if len(r.Header.Get("Idempotency-Key")) > maxIdempotencyKey {
		return statusErrorf(http.StatusBadRequest, "The Idempotency-Key must be at most %d bytes long.", maxIdempotencyKey)
	}
	return nil
}

// handleCancel stops a run.
func (s *Server) handleCancel(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	surface := surfaceOf(r)
	if isDatastarRequest(r) || wantsHTML(r) {
		surface = "browser"
	}
	if err := s.engine.Cancel(r.Context(), caller, id, surface); err != nil {
		return err
	}
	return redirectOrAccept(w, r, s.links.Run(id))
}

// handleAdopt makes the operator the owner of another caller's run.
func (s *Server) handleAdopt(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	if err := s.engine.Adopt(r.Context(), caller, id); err != nil {
		return err
	}
	if !wantsJSON(r) {
		return redirectOrAccept(w, r, s.links.Run(id))
	}
	info, err := s.engine.Info(caller, id)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}

// redirectOrAccept responds to a request that changed something: it redirects a browser
// without script. Other clients learn of the change from the stream.
func redirectOrAccept(w http.ResponseWriter, r *http.Request, page string) error {
	if wantsHTML(r) {
		http.Redirect(w, r, page, http.StatusSeeOther)
		return nil
	}
	streamable.WriteAccepted(w)
	return nil
}
