package mcp

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"
)

// registerTools tells the library the photons of the registry.
func (s *Server) registerTools() {
	s.registerMu.Lock() // or an older list could come last
	defer s.registerMu.Unlock()
	var tools []server.ServerTool
	if s.isResumeTool(ResumeTool) {
		tools = append(tools, newResumeTool())
	}
	for _, p := range s.photons.All() {
		if s.isResumeTool(p.Name()) {
			s.logger.Warn("a photon is not offered over MCP: its name is that of a tool of Beam's own", "photon", p.Name())
			continue
		}
		tools = append(tools, server.ServerTool{Tool: newTool(p), Handler: refuseLibraryCall})
	}
	s.library.SetTools(tools...)
}

// refuseLibraryCall is never called: tools/call does not reach the library.
func refuseLibraryCall(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("tools are called by following their run")
}

func newTool(p *generators.Photon) mcp.Tool {
	input, err := p.Input().MarshalJSON()
	if err != nil {
		panic(err) // a schema holds its own JSON
	}
	o := p.Options()
	t := mcp.NewToolWithRawSchema(p.Name(), o.Description, writePropertiesAsObjects(input))
	t.Title = o.Title
	t.Annotations = mcp.ToolAnnotation{
		Title: o.Title, ReadOnlyHint: &o.ReadOnly, DestructiveHint: &o.Destructive,
		IdempotentHint: &o.Idempotent, OpenWorldHint: &o.OpenWorld,
	}
	return t
}

// completeToolList puts into a list of tools what depends on the client's version.
func (s *Server) completeToolList(ctx context.Context, r *mcp.ListToolsResult) {
	rc, ok := server.ClientSessionFromContext(ctx).(*requestContext)
	if !ok {
		return
	}
	for i := range r.Tools {
		if p, ok := s.photons.Lookup(r.Tools[i].Name); ok && !s.isResumeTool(p.Name()) {
			r.Tools[i].RawOutputSchema = s.guaranteedOutputSchema(p, rc.client)
			r.Tools[i].Execution = taskExecution(p, rc.client)
		}
		if !rc.client.VersionAtLeast(version20250618) {
			r.Tools[i].Title = "" // annotations.title is the older place
		}
	}
}
