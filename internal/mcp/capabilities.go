package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
)

// extension names the extension that tasks are in 2026-07-28 (SEP-2663).
const extension = "io.modelcontextprotocol/tasks"

// takesTasks tells whether a client of the modern era takes a task where it
// asked for a result.
func (c *client) takesTasks() bool {
	_, declared := c.caps.Extensions[extension]
	return c.modern() && declared
}

// needsTasks is the error for a client that would have to.
func needsTasks() *rpcError {
	e := faultf(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "this needs the client to declare the extension %s", extension)
	e.Data = map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{extension: struct{}{}}}}
	return e
}

// dress adds to a result of the library what the library has no words for.
func (s *Server) dress(x *exchange, m message, result json.RawMessage) json.RawMessage {
	switch m.Method {
	case string(mcp.MethodInitialize):
		var agreed struct {
			Version string `json:"protocolVersion"`
		}
		if json.Unmarshal(result, &agreed) == nil && agreed.Version == november2025 {
			return with(result, map[string]any{"tasks": taskCapability(x.identified)}, "capabilities")
		}
	case string(mcp.MethodServerDiscover):
		return with(result, map[string]any{extension: struct{}{}}, "capabilities", "extensions")
	case string(mcp.MethodToolsList):
		if x.client.version == november2025 {
			return s.hint(result)
		}
	}
	return result
}

// taskCapability is the server capability tasks of 2025-11-25. Which requests
// can be tasks is said as the specification has it and as issue 1869 does; to
// either kind of client, the other's member is one that it does not know.
func taskCapability(list bool) map[string]any {
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

// execution is what a tool says about being a task (MCP 2025-11-25, Tool-Level
// Negotiation).
func execution(p *generators.Photon, c *client) *mcp.ToolExecution {
	if c.version != november2025 {
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

// hint adds to a list of tools which of them should be called as tasks (issue
// 1869).
func (s *Server) hint(result json.RawMessage) json.RawMessage {
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
			list.Tools[i], hinted = with(raw, map[string]any{"taskHint": "always"}, "annotations"), true
		}
	}
	if !hinted {
		return result
	}
	return with(result, map[string]any{"tools": list.Tools})
}

func prefersTask(p *generators.Photon) bool {
	switch p.Options().Task {
	case generators.TaskPreferred, generators.TaskAfterAsking, generators.TaskRequired:
		return true
	}
	return false
}

// with is a JSON object with more members in the object at a path, which is made
// if it is not there.
func with(raw json.RawMessage, more map[string]any, path ...string) json.RawMessage {
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
		members[path[0]] = with(held[path[0]], more, path[1:]...)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		panic(err) // it was JSON, and our own
	}
	return bytes.TrimSpace(b.Bytes())
}
