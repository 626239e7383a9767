package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
)

// tasksExtension names the extension that tasks are in 2026-07-28 (SEP-2663).
const tasksExtension = "io.modelcontextprotocol/tasks"

// supportsTasks tells whether a client of the modern era takes a task where it
// asked for a result.
func (c *client) supportsTasks() bool {
	_, declared := c.Capabilities.Extensions[tasksExtension]
	return c.IsModern() && declared
}

// missingTasksError is the error for a client that would have to.
func missingTasksError() *rpcError {
	e := rpcErrorf(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "this needs the client to declare the extension %s", tasksExtension)
	e.Data = map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: struct{}{}}}}
	return e
}

// extendLibraryResult adds to a result of the library what the library has no words for.
func (s *Server) extendLibraryResult(rc *requestContext, m message, result json.RawMessage) json.RawMessage {
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

// tasksCapability is the server capability tasks of 2025-11-25. Which requests
// can be tasks is said as the specification has it and as issue 1869 does; to
// either kind of client, the other's member is one that it does not know.
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

// taskExecution is what a tool says about being a task (MCP 2025-11-25, Tool-Level
// Negotiation).
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

// addTaskHints adds to a list of tools which of them should be called as tasks (issue
// 1869).
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

// withMembers is a JSON object with more members in the object at a path, which is made
// if it is not there.
func withMembers(raw json.RawMessage, more map[string]any, path ...string) json.RawMessage {
	members := map[string]any{}
	var held map[string]json.RawMessage
	if json.Unmarshal(raw, &held) == nil {
		for name, value := range held {
			members[name] = value
		}
	}
	if len(path) == 0 {
		for name, value := range more {
			members[name] = value
		}
	} else {
		members[path[0]] = withMembers(held[path[0]], more, path[1:]...)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		panic(err) // it was JSON, and our own
	}
	return bytes.TrimSpace(b.Bytes())
}
