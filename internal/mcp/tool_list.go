package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/photon-beam/beam/generators"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// registerTools registers the registry's photons with mcp-go.
func (s *Server) registerTools() {
	s.registerMu.Lock() // keep an older list from replacing a newer one
	defer s.registerMu.Unlock()
	var tools []server.ServerTool
	if s.askPolicy.allowsHandoff() {
		tools = append(tools, newResumeTool(), newCancelTool())
	}
	for _, p := range s.photons.All() {
		if s.isBeamTool(p.Name()) {
			s.logger.Warn("a photon is not offered over MCP because Beam has a tool of that name", "photon", p.Name())
			continue
		}
		tools = append(tools, server.ServerTool{Tool: newTool(p), Handler: refuseLibraryCall})
	}
	s.library.SetTools(tools...)
}

// refuseLibraryCall is the handler that mcp-go requires. It is never called, because
// tools/call does not reach mcp-go.
func refuseLibraryCall(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("mcp: tools/call must not reach the library")
}

func newTool(p *generators.Photon) mcp.Tool {
	o := p.Options()
	t := mcp.NewToolWithRawSchema(p.Name(), o.Description, msg.InputSchema(p))
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
	if _, isPhoton := s.photons.Lookup(name); !isPhoton || s.isBeamTool(name) {
		return true
	}
	_, ok := s.engine.LookupPhoton(caller, name)
	return ok
}

// filterTools removes the tools that the caller of a request may not use from a list.
func (s *Server) filterTools(ctx context.Context, all []mcp.Tool) []mcp.Tool {
	rc, ok := server.ClientSessionFromContext(ctx).(*requestContext)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(t mcp.Tool) bool { return !s.offersTool(rc.client.caller, t.Name) })
}

// completeToolList adds to a list of tools what depends on the client's version.
func (s *Server) completeToolList(ctx context.Context, r *mcp.ListToolsResult) {
	rc, ok := server.ClientSessionFromContext(ctx).(*requestContext)
	if !ok {
		return
	}
	for i := range r.Tools {
		if p, ok := s.photons.Lookup(r.Tools[i].Name); ok && !s.isBeamTool(p.Name()) {
			r.Tools[i].RawOutputSchema = s.guaranteedOutputSchema(p, rc.client)
			r.Tools[i].Execution = tasks.Execution(p, &rc.client.Client)
		}
		if !rc.client.VersionAtLeast(version20250618) {
			r.Tools[i].Title = "" // these clients read annotations.title
		}
	}
}

// guaranteedOutputSchema returns the schema of the structured content that every result
// of the photon has for the client, or nil. There is none for a client that can't be
// asked: its calls may be handed off, with a result that has no structured content.
func (s *Server) guaranteedOutputSchema(p *generators.Photon, c *client) json.RawMessage {
	if s.askPolicy.allowsHandoff() && !c.SupportsForms() && !c.SupportsURLs() {
		return nil
	}
	return msg.OutputSchema(p, &c.Client)
}
