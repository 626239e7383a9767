package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web/ui"
)

// zoneField is the form field in which a browser says its time zone.
const zoneField = "beam:tz"

// start begins a run: of a form, whose browser is sent to the run's page, or of
// JSON arguments, which are answered with the run's addresses.
func (s *Server) start(w http.ResponseWriter, r *http.Request, who run.Caller) error {
	photon, ok := s.photons.Lookup(r.PathValue("name"))
	if !ok {
		return run.ErrNoPhoton
	}
	if len(r.Header.Get("Idempotency-Key")) > maxKey {
		return refuse(http.StatusBadRequest, "The Idempotency-Key must be at most %d bytes long.", maxKey)
	}
	switch mediaType(r) {
	case jsonType:
		return s.startJSON(w, r, who, photon)
	case formType:
		return s.startForm(w, r, who, photon)
	}
	return unsupported(r, jsonType+" or "+formType)
}

func (s *Server) startJSON(w http.ResponseWriter, r *http.Request, who run.Caller, p *generators.Photon) error {
	args, err := readAll(w, r)
	if err != nil {
		return err
	}
	if len(args) > 0 && !json.Valid(args) {
		return refuse(http.StatusBadRequest, "The body is not JSON.")
	}
	info, err := s.engine.Start(r.Context(), who, run.Request{
		Photon: p.Name(), Args: args, Surface: "http", Idempotency: r.Header.Get("Idempotency-Key"),
	})
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/runs/"+info.ID)
	writeJSON(w, http.StatusCreated, map[string]string{
		"id": info.ID, "url": "/runs/" + info.ID, "events": "/runs/" + info.ID + "/events",
	})
	return nil
}

func (s *Server) startForm(w http.ResponseWriter, r *http.Request, who run.Caller, p *generators.Photon) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	fields, err := ask.Inputs(p.Input().Document())
	if err != nil {
		return err
	}
	info, err := s.engine.Start(r.Context(), who, run.Request{
		Photon: p.Name(), Args: arguments(r.PostForm, fields), Surface: "browser",
		Idempotency: r.Header.Get("Idempotency-Key"),
	})
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) && !wantsJSON(r) {
		page := photonPage(p, fields)
		page.Values, page.Errors = posted(r.PostForm, fields), invalid.Fields
		return s.render(w, r, http.StatusUnprocessableEntity, ui.Photon(s.chrome(r, who, p.Title()), page))
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/runs/"+info.ID, http.StatusSeeOther)
	return nil
}

// posted are the values to fill a refused form in with: those that it had, or
// those of the run that was to be run again.
func posted(form url.Values, fields ask.Fields) url.Values {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(form.Get(argsField)), &args) != nil {
		return form
	}
	values := url.Values{}
	for _, f := range fields {
		if raw, ok := args[f.Name]; ok && f.Format != ask.FormatSecret {
			f.Default = raw
			values[f.Name] = ui.Defaults(&f)
		}
	}
	return values
}

// zone is the time zone that a form was filled in in: UTC, if the form doesn't
// say, as a page without script has it.
func zone(form url.Values) *time.Location {
	if l, err := time.LoadLocation(form.Get(zoneField)); err == nil {
		return l
	}
	return time.UTC
}

// maxKey bounds an Idempotency-Key, in bytes: it stays in the log.
const maxKey = 255

// cancelRun stops a run.
func (s *Server) cancelRun(w http.ResponseWriter, r *http.Request, who run.Caller) error {
	id := r.PathValue("id")
	if err := s.engine.Cancel(r.Context(), who, id); err != nil {
		return err
	}
	return done(w, r, "/runs/"+id)
}

// done answers a request that changed something: a browser without script goes
// to a page, everybody else has learnt it from the stream.
func done(w http.ResponseWriter, r *http.Request, page string) error {
	if wantsPage(r) {
		http.Redirect(w, r, page, http.StatusSeeOther)
		return nil
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
