package mcp

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// tasksExtension is the name of the tasks extension of 2026-07-28 (SEP-2663).
const tasksExtension = "io.modelcontextprotocol/tasks"

// supportsTasks reports whether a client of the modern era accepts a task in place of a
// result.
func (c *client) supportsTasks() bool {
	_, declared := c.Capabilities.Extensions[tasksExtension]
	return c.IsModern() && declared
}

// missingTasksError returns the error for a client that must support tasks and does
// not.
func missingTasksError() *msg.Error {
	e := msg.Errorf(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "this needs the client to declare the extension %s", tasksExtension)
	e.Data = map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: struct{}{}}}}
	return e
}

// extendLibraryResult adds to a result of mcp-go what mcp-go does not support.
func (s *Server) extendLibraryResult(rc *requestContext, m msg.Incoming, result json.RawMessage) json.RawMessage {
	switch m.Method {
	case string(mcp.MethodInitialize):
		var agreed struct {
			Version string `json:"protocolVersion"`
		}
		if json.Unmarshal(result, &agreed) == nil && agreed.Version == version20251125 {
			return withMembers(result, map[string]any{"tasks": tasksCapability(rc.identified)}, "capabilities")
		}
	case string(mcp.MethodServerDiscover):
		return withMembers(result, map[string]any{tasksExtension: struct{}{}}, "capabilities", "extensions")
	case string(mcp.MethodToolsList):
		if rc.client.Version == version20251125 {
			return s.addTaskHints(result)
		}
	}
	return result
}

// tasksCapability returns the server capability tasks of 2025-11-25. It declares the
// requests that can be tasks both as the specification does and as issue 1869 does. A
// client ignores the member that it does not know.
func tasksCapability(list bool) map[string]any {
	tasks := map[string]any{
		"cancel": struct{}{},
		"requests": map[string]any{
			"tools":      map[string]any{"call": struct{}{}},
			"tools.call": true,
		},
	}
	if list {
		tasks["list"] = struct{}{}
	}
	return tasks
}

// taskExecution returns whether a tool can be called as a task (MCP 2025-11-25,
// Tool-Level Negotiation).
func taskExecution(p *generators.Photon, c *client) *mcp.ToolExecution {
	if c.Version != version20251125 {
		return nil
	}
	support := mcp.TaskSupportOptional
	switch p.Options().Task {
	case generators.TaskForbidden:
		support = mcp.TaskSupportForbidden
	case generators.TaskRequired:
		support = mcp.TaskSupportRequired
	}
	return &mcp.ToolExecution{TaskSupport: support}
}

// addTaskHints marks the tools in a list that should be called as tasks (issue 1869).
func (s *Server) addTaskHints(result json.RawMessage) json.RawMessage {
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(result, &list) != nil {
		return result
	}
	hinted := false
	for i, raw := range list.Tools {
		var tool struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &tool) != nil {
			continue
		}
		if p, ok := s.photons.Lookup(tool.Name); ok && prefersTask(p) {
			list.Tools[i], hinted = withMembers(raw, map[string]any{"taskHint": "always"}, "annotations"), true
		}
	}
	if !hinted {
		return result
	}
	return withMembers(result, map[string]any{"tools": list.Tools})
}

func prefersTask(p *generators.Photon) bool {
	switch p.Options().Task {
	case generators.TaskPreferred, generators.TaskAfterAsking, generators.TaskRequired:
		return true
	}
	return false
}
