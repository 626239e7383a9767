package testserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A tool is one thing to test.
type tool struct {
	name        string
	description string
	// input holds the properties of the tool's arguments, as JSON; or the whole schema,
	// if that has more.
	input    string
	schema   string
	required []string
	more     object // further members of the tool's definition
	task     string // whether the call can be a task: "" or forbidden, optional, required
	run      func(*request) (object, error)
}

// groups are the tools by subject, in the order in which help lists them.
var groups = []struct {
	title string
	tools func() []*tool
}{
	{"From the field", fieldTools},
	{"Questions to the person", elicitationTools},
	{"Questions to a model, and roots", samplingTools},
	{"Contents of results", contentTools},
	{"Schemas of arguments", schemaTools},
	{"Work, changes and tasks", workTools},
	{"Faults", faultTools},
}

// allTools returns the table of tools.
func allTools() (all []*tool) {
	for _, g := range groups {
		all = append(all, g.tools()...)
	}
	return all
}

// Describe returns the list of tools for people.
func Describe() string {
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "%s:\n\n", g.title)
		for _, t := range g.tools() {
			fmt.Fprintf(&b, "    %-26s %s\n", t.name, t.description)
		}
		b.WriteString("\n")
	}
	b.WriteString("With --fault:\n\n")
	for _, f := range listFaults() {
		fmt.Fprintf(&b, "    %-26s %s\n", f.name, f.description)
	}
	return b.String()
}

// definition returns the tool as tools/list has it.
func (t *tool) definition(version string) object {
	d := object{"name": t.name, "description": t.description, "inputSchema": t.inputSchema()}
	for name, value := range t.more {
		d[name] = value
	}
	if t.task != "" && version == mcp.ProtocolVersion20251125 {
		d["execution"] = object{"taskSupport": t.task}
	}
	return d
}

func (t *tool) inputSchema() any {
	if t.schema != "" {
		return json.RawMessage(t.schema)
	}
	schema := object{"type": "object", "properties": object{}}
	if t.input != "" {
		schema["properties"] = json.RawMessage("{" + t.input + "}")
	}
	if t.required != nil {
		schema["required"] = t.required
	}
	return schema
}

// callTool serves tools/call.
func callTool(r *request) (object, error) {
	t := r.server.findTool(r.Name)
	switch {
	case t == nil:
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "there is no tool %q", r.Name)
	case t.becomesTask(r):
		return r.server.startTask(r, t)
	case t.task == taskRequired && r.isModern():
		return nil, &msg.Error{Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Message: t.name + " can only be called as a task", Data: object{
			"requiredCapabilities": object{"extensions": object{tasksExtension: object{}}},
		}}
	case t.task == taskRequired:
		return nil, msg.Errorf(mcp.METHOD_NOT_FOUND, "%s can only be called as a task", t.name)
	}
	return t.call(r)
}

// call runs the tool. What the client answered with an error is an error of the tool,
// which the result shows.
func (t *tool) call(r *request) (object, error) {
	for _, name := range t.required {
		var value json.RawMessage
		if err := r.argument(name, &value); err != nil || value == nil {
			return failure("the argument %s is missing", name), nil
		}
	}
	result, err := t.run(r)
	var answered *clientError
	if errors.As(err, &answered) {
		return failure("The client answered with an error: %s", answered), nil
	}
	return result, err
}

// text returns a result of one text.
func text(format string, args ...any) object {
	return object{"content": []any{textBlock(fmt.Sprintf(format, args...))}}
}

// failure returns a result that is the tool's error.
func failure(format string, args ...any) object {
	result := text(format, args...)
	result["isError"] = true
	return result
}

func textBlock(s string) object { return object{"type": "text", "text": s} }

// indent returns a response of the client as JSON for people. It keeps the
// order of the members.
func indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
