package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"

	"github.com/photon-beam/beam/internal/mcp/apps"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/upstream/catalogue"
)

// registerTools registers the registry's photons with mcp-go.
func (s *Server) registerTools() {
	s.registerMu.Lock() // keep an older list from replacing a newer one
	defer s.registerMu.Unlock()
	offered := s.offeredPhotons()
	if s.only != "" && maps.Equal(offered, s.registered) { // another upstream's have changed
		return
	}
	s.registered = offered
	var tools []server.ServerTool
	if s.askPolicy.allowsHandoff() {
		tools = append(tools, newResumeTool(), newCancelTool())
	}
	if s.servesApps() {
		tools = append(tools, server.ServerTool{Tool: apps.ReadDefinition(), Handler: refuseLibraryCall}, server.ServerTool{Tool: apps.ActDefinition(), Handler: refuseLibraryCall})
	}
	for name, p := range offered {
		tools = append(tools, server.ServerTool{Tool: newTool(name, p), Handler: refuseLibraryCall})
	}
	s.library.SetTools(tools...)
}

// offeredPhotons returns the photons that the server offers, by the names of their tools.
func (s *Server) offeredPhotons() map[string]*generators.Photon {
	offered := make(map[string]*generators.Photon)
	for _, p := range s.photons.All() {
		name := p.Name()
		if s.only != "" {
			t, ok := s.upstreams.ToolOf(p)
			if !ok || t.Server != s.only {
				continue
			}
			name = t.Name
		}
		if s.isBeamTool(name) {
			s.logger.Warn("a photon is not offered over MCP because Beam has a tool of that name", "photon", name)
			continue
		}
		offered[name] = p
	}
	return offered
}

// toolPhoton returns the photon that a tool calls, whoever may use it.
func (s *Server) toolPhoton(name string) (*generators.Photon, bool) {
	if s.isBeamTool(name) {
		return nil, false
	}
	if s.only == "" {
		return s.photons.Lookup(name)
	}
	p, ok := s.photons.Lookup(catalogue.JoinName(s.only, name))
	if !ok {
		return nil, false
	}
	t, ok := s.upstreams.ToolOf(p)
	return p, ok && t.Server == s.only && t.Name == name
}

// refuseLibraryCall is the handler that mcp-go requires. It is never called, because
// tools/call does not reach mcp-go.
func refuseLibraryCall(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("mcp: tools/call must not reach the library")
}

func newTool(name string, p *generators.Photon) mcp.Tool {
	o := p.Options()
	if o.Definition != nil { // which the list will have instead
		return mcp.NewToolWithRawSchema(name, "", rawjson.Member(o.Definition, "inputSchema"))
	}
	t := mcp.NewToolWithRawSchema(name, o.Description, msg.InputSchema(p))
	t.Title = o.Title
	t.Annotations = mcp.ToolAnnotation{
		Title: o.Title, ReadOnlyHint: &o.ReadOnly, DestructiveHint: &o.Destructive,
		IdempotentHint: &o.Idempotent, OpenWorldHint: &o.OpenWorld,
	}
	return t
}

// offersTool reports whether a registered tool is one that a caller may use. Tools that
// are no photons are everybody's.
func (s *Server) offersTool(caller generators.Caller, name string) bool {
	p, isPhoton := s.toolPhoton(name)
	if !isPhoton {
		return true
	}
	_, ok := s.engine.LookupPhoton(caller, p.Name())
	return ok
}

// filterTools removes the tools that the caller of a request may not use from a list.
func (s *Server) filterTools(ctx context.Context, all []mcp.Tool) []mcp.Tool {
	rc, ok := server.ClientSessionFromContext(ctx).(*requestContext)
	if !ok {
		return nil
	}
	withView := rc.usesApps(rc.client)
	return slices.DeleteFunc(slices.Clone(all), func(t mcp.Tool) bool {
		return !s.offersTool(rc.client.caller, t.Name) || apps.IsTool(t.Name) && s.isBeamTool(t.Name) && !withView
	})
}

// completeToolList adds to a list of tools what depends on the client's version.
func (s *Server) completeToolList(ctx context.Context, r *mcp.ListToolsResult) {
	rc, ok := server.ClientSessionFromContext(ctx).(*requestContext)
	if !ok {
		return
	}
	for i := range r.Tools {
		if p, ok := s.toolPhoton(r.Tools[i].Name); ok {
			r.Tools[i].RawOutputSchema = rc.guaranteedOutputSchema(p, rc.client)
			r.Tools[i].Execution = tasks.Execution(p, &rc.client.Client)
		}
		if !rc.client.VersionAtLeast(version20250618) {
			r.Tools[i].Title = "" // these clients read annotations.title
		}
	}
	s.addAppsToTools(rc, r.Tools)
}

// guaranteedOutputSchema returns the schema of the structured content that every result
// of the photon has for the client, or nil. There is none for a client that can't be
// asked: its calls may be handed off, with a result that has no structured content. Nor
// is there one for a client that shows Beam's view, which gets results of another form.
func (s *session) guaranteedOutputSchema(p *generators.Photon, c *client) json.RawMessage {
	if s.usesApps(c) {
		return nil
	}
	if p.Options().Definition != nil { // which says what it says; a hand-off is an error
		return rawjson.Member(p.Options().Definition, "outputSchema")
	}
	if s.server.askPolicy.allowsHandoff() && !c.SupportsForms() && !c.SupportsURLs() {
		return nil
	}
	return msg.OutputSchema(p, &c.Client)
}

// insertDefinitions replaces the tools in a list whose photons have a definition by that,
// under the names of the tools.
func (s *Server) insertDefinitions(rc *requestContext, result json.RawMessage) json.RawMessage {
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(result, &list) != nil {
		return result
	}
	inserted := false
	for i, raw := range list.Tools {
		var tool struct{ Name string }
		if json.Unmarshal(raw, &tool) != nil {
			continue
		}
		if p, ok := s.toolPhoton(tool.Name); ok && p.Options().Definition != nil {
			definition := msg.ToolDefinition(p, tool.Name, &rc.client.Client, s.mapUI(p))
			list.Tools[i], inserted = s.adaptDefinition(rc, p, definition), true
		}
	}
	if !inserted {
		return result
	}
	return msg.WithMembers(result, map[string]any{"tools": list.Tools})
}
