package ui

import (
	"context"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/internal/controls"
)

// A startView is the form that starts a run, prepared for rendering.
type startView struct {
	PhotonPage
	root    *controls.Control
	list    []*controls.Control
	general []string // errors that belong to no field, in sentences
	places  []placedError
	editURL templ.SafeURL
}

// A placedError is an error at its place in the JSON.
type placedError struct {
	line          int
	path, message string
}

func newStartView(ctx context.Context, p PhotonPage) *startView {
	v := &startView{PhotonPage: p, editURL: templ.SafeURL(site(ctx).EditForm(p.Name))}
	var rest []generators.FieldError
	v.root = &controls.Control{Part: p.Form, EditURL: v.editURL}
	v.list, rest = controls.New("in", p.Form.Parts, p.Errors)
	v.general = controls.Sentences(rest)
	controls.SetWithin(v.list, "")
	controls.SetEditURL(v.list, v.editURL, p.Focus)
	if v.JSON == "" {
		v.JSON = form.Indent(p.Form.WithoutSecrets())
		if p.Form.Kind == form.JSON && len(p.Form.Values) > 0 {
			v.JSON = p.Form.Values[0]
		}
	}
	pointers := make([]string, len(p.Errors))
	for i, e := range p.Errors {
		pointers[i] = e.Path
	}
	if v.JSONError == "" && len(pointers) > 0 {
		lines := form.Lines(v.JSON, pointers)
		for _, e := range p.Errors {
			v.places = append(v.places, placedError{lines[e.Path], e.Path, strings.TrimSuffix(e.Message, ".")})
		}
		slices.SortStableFunc(v.places, func(a, b placedError) int { return a.line - b.line })
	}
	return v
}

func (v *startView) hasFields() bool { return len(v.list) > 0 }

// hasJSON reports whether there are arguments to show as JSON.
func (v *startView) hasJSON() bool { return len(v.list) > 0 || v.Form.Kind == form.JSON }

func (v *startView) jsonIsWrong() bool { return v.JSONError != "" || len(v.places) > 0 }

// changes reports whether the arguments' own members depend on what is filled in.
func (v *startView) changes() bool { return v.Form.Changes }

// source is what starts the run: the fields or the JSON. Script changes it as the person
// types.
func (v *startView) source() string {
	if v.hasFields() {
		return "form"
	}
	return "json"
}
