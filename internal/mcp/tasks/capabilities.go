package tasks

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// Extension is the name of the extension of 2026-07-28 (SEP-2663).
const Extension = "io.modelcontextprotocol/tasks"

// supportsExtension reports whether a client of the modern era accepts a task in place
// of a result.
func supportsExtension(c *msg.Client) bool {
	_, declared := c.Capabilities.Extensions[Extension]
	return c.IsModern() && declared
}

// missingExtensionError returns the error for a client that must support tasks and does
// not.
func missingExtensionError() *msg.Error {
	e := msg.Errorf(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "this needs the client to declare the extension %s", Extension)
	e.Data = map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{Extension: struct{}{}}}}
	return e
}

// Capability returns the server capability tasks of 2025-11-25. It declares the
// requests that can be tasks both as the specification does and as issue 1869 does. A
// client ignores the member that it does not know.
func Capability(list bool) map[string]any {
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

// Execution returns whether a tool can be called as a task (MCP 2025-11-25,
// Tool-Level Negotiation).
func Execution(p *generators.Photon, c *msg.Client) *mcp.ToolExecution {
	if c.Version != mcp.ProtocolVersion20251125 {
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

// IsHinted reports whether a list marks a tool as one that should be called as a task
// (issue 1869), given its execution for the client.
func IsHinted(p *generators.Photon, execution *mcp.ToolExecution) bool {
	if execution == nil || execution.TaskSupport == mcp.TaskSupportForbidden {
		return false
	}
	switch p.Options().Task {
	case generators.TaskPreferred, generators.TaskAfterAsking, generators.TaskRequired:
		return true
	}
	return false
}
