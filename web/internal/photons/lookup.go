package photons

import (
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/upstream/policy"
	"github.com/photon-beam/beam/web/internal/problem"
)

// lookup returns the photon that a request's path names. If that is a tool which an
// upstream has and Beam doesn't offer, the error says why to those who may use the upstream.
func (h *Handlers) lookup(r *http.Request, caller generators.Caller) (*generators.Photon, error) {
	name := r.PathValue("name")
	if p, ok := h.Engine.LookupPhoton(caller, name); ok {
		return p, nil
	}
	server, tool, ok := h.findUnoffered(name)
	mayOperate := h.Pages.SeesUpstreams(caller)
	if !ok || !mayOperate && !h.Lists.Of(caller).HasServer(server) {
		return nil, engine.ErrPhotonNotFound
	}
	err := &problem.Error{Status: http.StatusNotFound, Title: "Tool not offered", Text: name + " isn’t offered. " + tool.Reason, URL: h.Site.Path.Home(), Link: "Show all photons"}
	if tool.Decision == policy.Held {
		err.Title, err.Text = "Tool held back", name+" is held back. "+tool.Reason+" Nobody can call it until an operator has looked at it and accepts it."
	}
	if mayOperate {
		err.URL, err.Link = h.Site.Path.Upstream(server), "Show the MCP server "+server
		if tool.Decision == policy.Held {
			err.URL, err.Link = h.Site.Path.Upstream(server)+"#held", "Review what changed"
		}
	}
	return nil, err
}

// findUnoffered returns the tool of an upstream that Beam would offer under a name, if it
// didn't hold it back and could offer it.
func (h *Handlers) findUnoffered(name string) (server string, tool policy.ToolStatus, ok bool) {
	if _, ok := catalogue.SplitName(name); !ok || h.Upstreams == nil {
		return "", tool, false
	}
	for _, u := range h.Upstreams.Status() {
		for _, t := range u.Tools {
			if (t.Decision == policy.Held || t.Decision == policy.Skipped) && catalogue.JoinName(u.Name, t.Name) == name {
				return u.Name, t, true
			}
		}
	}
	return "", tool, false
}
