package mcp

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"
)

// register tells the library the photons of the registry.
func (s *Server) register() {
	s.registering.Lock() // or an older list could come last
	defer s.registering.Unlock()
	var tools []server.ServerTool
	if s.offersResume(ResumeTool) {
		tools = append(tools, resumeTool())
	}
	for _, p := range s.photons.All() {
		if s.offersResume(p.Name()) {
			s.logger.Warn("a photon is not offered over MCP: its name is that of a tool of Beam's own", "photon", p.Name())
			continue
		}
		tools = append(tools, server.ServerTool{Tool: tool(p), Handler: calledHere})
	}
	s.lib.SetTools(tools...)
}

// calledHere is never called: tools/call does not reach the library.
func calledHere(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("tools are called by following their run")
}

func tool(p *generators.Photon) mcp.Tool {
	input, err := p.Input().MarshalJSON()
	if err != nil {
		panic(err) // a schema holds its own JSON
	}
	o := p.Options()
	t := mcp.NewToolWithRawSchema(p.Name(), o.Description, objectsOnly(input))
	t.Title = o.Title
	t.Annotations = mcp.ToolAnnotation{
		Title: o.Title, ReadOnlyHint: &o.ReadOnly, DestructiveHint: &o.Destructive,
		IdempotentHint: &o.Idempotent, OpenWorldHint: &o.OpenWorld,
	}
	return t
}

// listed puts into a list of tools what depends on the client's version.
func (s *Server) listed(ctx context.Context, r *mcp.ListToolsResult) {
	x, ok := server.ClientSessionFromContext(ctx).(*exchange)
	if !ok {
		return
	}
	for i := range r.Tools {
		if p, ok := s.photons.Lookup(r.Tools[i].Name); ok && !s.offersResume(p.Name()) {
			r.Tools[i].RawOutputSchema = s.promised(p, x.client)
			r.Tools[i].Execution = execution(p, x.client)
		}
		if !x.client.since(june2025) {
			r.Tools[i].Title = "" // annotations.title is the older place
		}
	}
}
