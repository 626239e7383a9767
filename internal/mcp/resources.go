package mcp

import (
	"encoding/json"
	"errors"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/mcp/calls"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
)

// resources serves requests for single resources: the view of runs, artifacts, those that
// the program has registered, and those of upstreams.
type resources struct {
	library   library
	chat      *calls.Chat
	artifacts *artifacts // nil if there are none to read
	upstreams *upstreams
	server    mcp.Implementation
}

// requestedURI returns the resource that a request names; what has another type names
// nothing.
func requestedURI(r *session.Request) string {
	var params struct {
		URI string `json:"uri"`
	}
	_ = json.Unmarshal(r.Message.Params, &params)
	return params.URI
}

// read serves resources/read. What Beam and the program have comes first.
func (s *resources) read(r *session.Request, answer func(requests.Reply)) {
	uri := requestedURI(r)
	run, seq, isArtifact := msg.ParseArtifactURI(uri)
	switch {
	case s.chat.View != nil && apps.IsAddress(uri):
		answer(s.readView(r, uri))
		return
	case isArtifact && s.artifacts != nil:
		answer(s.readArtifact(r, uri, run, seq))
		return
	}
	t, isUpstream := s.upstreams.findResource(uri, r.Client.Caller)
	if _, _, isUI := msg.CutUIScheme(uri); isUpstream && (isUI || s.upstreams.only != "") {
		s.upstreams.read(r, t, answer)
		return
	}
	result, refused := s.library.serve(r)
	isMissing := refused != nil && (refused.Code == mcp.RESOURCE_NOT_FOUND || refused.Code == mcp.INVALID_PARAMS)
	switch {
	case isMissing && isUpstream:
		s.upstreams.read(r, t, answer)
	case isMissing && refused.Data == nil:
		answer(unlessCancelled(r, r.Error(missingResourceError(r, refused.Code))))
	case refused != nil:
		answer(unlessCancelled(r, r.Error(refused)))
	default:
		answer(unlessCancelled(r, r.Result(result)))
	}
}

// missingResourceError returns the error for a resource that there is not.
func missingResourceError(r *session.Request, code int) *msg.Error {
	uri := requestedURI(r)
	e := msg.Errorf(code, "there is no resource %q", uri)
	e.Data = map[string]string{"uri": uri}
	return e
}

// missingResourceCode returns the code of the error for a resource that there is not, which
// has changed with 2026-07-28.
func missingResourceCode(c *requests.Client) int {
	if c.IsModern() {
		return mcp.INVALID_PARAMS
	}
	return mcp.RESOURCE_NOT_FOUND
}

func (s *resources) readArtifact(r *session.Request, uri, run string, seq uint64) requests.Reply {
	contents, err := s.artifacts.read(r.InFlight.NewContext(), r.Client.Caller, uri, run, seq)
	switch {
	case errors.Is(err, errNoArtifact):
		return r.Error(missingResourceError(r, missingResourceCode(r.Client)))
	case err != nil:
		return r.Error(msg.Errorf(mcp.INTERNAL_ERROR, "%v", err))
	}
	return r.Result(newCacheableResult(r, s.server, map[string]any{"contents": []any{contents}}))
}

// viewLifetime is how long a client may keep the view's document, in milliseconds. Its
// address changes with its content.
const viewLifetime = 24 * 60 * 60 * 1000

// readView reads the view's document, under its present address or an earlier one, which the
// host may have kept. It is the same for everybody.
func (s *resources) readView(r *session.Request, uri string) requests.Reply {
	html, _ := s.chat.View.Document()
	contents := apps.Contents(uri, html)
	if r.Client.IsModern() {
		maps.Copy(contents, map[string]any{"ttlMs": viewLifetime, "cacheScope": "public"})
	}
	return r.Result(newResult(r, s.server, contents))
}

// subscribe serves resources/subscribe.
func (s *resources) subscribe(r *session.Request) requests.Reply {
	uri := requestedURI(r)
	if uri == "" {
		return r.Error(msg.Errorf(mcp.INVALID_PARAMS, "uri is required"))
	}
	s.upstreams.subscribe(r.InFlight.NewContext(), r.Client.Caller, uri)
	if err := r.Session.Subscribe(uri); err != nil {
		return r.Error(msg.Errorf(mcp.RESOURCE_NOT_FOUND, "%v", err))
	}
	return r.Result(struct{}{})
}

// unsubscribe serves resources/unsubscribe.
func (s *resources) unsubscribe(r *session.Request) requests.Reply {
	uri := requestedURI(r)
	if uri == "" {
		return r.Error(msg.Errorf(mcp.INVALID_PARAMS, "uri is required"))
	}
	if err := r.Session.Unsubscribe(uri); err != nil {
		return r.Error(errUnavailable)
	}
	return r.Result(struct{}{})
}
