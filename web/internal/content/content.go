// Package content serves what runs make: artifacts, evidence and results, as files and as pages.
package content

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/artifacts"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/problem"
)

// Handlers serve artifacts and results.
type Handlers struct {
	Engine *engine.Engine
	Links  links.Base
	Pages  *page.Renderer

	readers chan struct{} // of tables and trees, each with a place in it
}

// New returns handlers.
func New(e *engine.Engine, links links.Base, pages *page.Renderer) *Handlers {
	return &Handlers{Engine: e, Links: links, Pages: pages, readers: make(chan struct{}, maxReaders)}
}

// content is an artifact, or the result of a run, with its body apart, and how it is shown.
type content struct {
	artifacts.Content
	body      io.ReadSeekCloser
	modified  time.Time // zero if unknown
	separator rune      // of the values of a table that is written as text; 0 for a page
}

// An Opener opens the content that a request names, if the caller may have it.
type Opener func(r *http.Request, caller generators.Caller) (*content, error)

// newContent returns content with the address of its body and the page that it is from.
func newContent(a *generators.Artifact, body io.ReadSeekCloser, url, back, backText string) *content {
	if body == nil {
		body = noCloser{bytes.NewReader(a.Body)}
	}
	c := &content{Content: artifacts.Content{Artifact: *a, URL: templ.SafeURL(url), Back: back, BackText: backText}, body: body}
	if a.Size == 0 {
		c.Artifact.Size = int64(len(a.Body))
	}
	c.Artifact.Body = nil
	return c
}

type noCloser struct{ io.ReadSeeker }

func (noCloser) Close() error { return nil }

// Artifact opens an artifact of a run.
func (h *Handlers) Artifact(r *http.Request, caller generators.Caller) (*content, error) {
	id := r.PathValue("id")
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return nil, problem.ErrPageNotFound
	}
	a, large, err := h.Engine.OpenArtifact(r.Context(), caller, id, seq)
	if err != nil {
		return nil, err
	}
	return newContent(a, large, h.Links.Artifact(id, seq), h.Links.Run(id)+"#e-"+strconv.FormatUint(seq, 10), "The run"), nil
}

// Evidence opens an artifact that a question shows or has shown.
func (h *Handlers) Evidence(r *http.Request, caller generators.Caller) (*content, error) {
	id := r.PathValue("id")
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return nil, problem.ErrPageNotFound
	}
	q, err := h.Engine.Question(r.Context(), caller, id)
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= len(q.Evidence) {
		return nil, problem.ErrPageNotFound
	}
	return newContent(q.Evidence[n], nil, h.Links.Evidence(id, n), h.Links.Ask(id), "The question"), nil
}

// Result opens the result of a run that has ended with one, as JSON.
func (h *Handlers) Result(r *http.Request, caller generators.Caller) (*content, error) {
	id := r.PathValue("id")
	end, at, err := h.Engine.Result(r.Context(), caller, id)
	if err != nil {
		return nil, err
	}
	a := &generators.Artifact{Title: "Result", MediaType: generators.JSONType, Body: end.Result}
	var body io.ReadSeekCloser
	switch {
	case end.ResultBlob != "":
		if body, err = h.Engine.OpenResult(caller, id, end); err != nil {
			return nil, err
		}
		a.Size = end.ResultSize
	case end.Result == nil:
		return nil, errNoResult
	}
	c := newContent(a, body, h.Links.Result(id), h.Links.Run(id), "The run")
	c.modified = at
	return c, nil
}

// errNoResult is the error for a run without a result.
var errNoResult = problem.Errorf(http.StatusNotFound, "The run has no result.")

// A handler handles a request for content, which is open until it returns.
type handler func(w http.ResponseWriter, r *http.Request, caller generators.Caller, c *content) error

// With returns a handler that opens content for another.
func (open Opener) With(handle handler) func(http.ResponseWriter, *http.Request, generators.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
		c, err := open(r, caller)
		if err != nil {
			return err
		}
		defer c.body.Close()
		return handle(w, r, caller, c)
	}
}

// Download serves content as a picture, a sound or a video, or as a download.
func Download(w http.ResponseWriter, r *http.Request, _ generators.Caller, c *content) error {
	serveContent(w, r, responseMediaType(c.Artifact.MediaType), downloadName(&c.Artifact), c.modified, c.body)
	return nil
}
