package apps

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

var (
	readInputSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"run":{"type":"string","description":"The run's handle. Without it, the result has only the address of the inbox."},` +
		`"after":{"type":"integer","minimum":0,"description":"The ordinal of the last entry that the view has."},` +
		`"wait":{"type":"integer","minimum":0,"maximum":5,"description":"For how many seconds to wait if there is nothing newer."}},"additionalProperties":false}`)
	actInputSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"run":{"type":"string","description":"The run's handle."},` +
		`"action":{"type":"string","enum":["accept","decline","cancel","stop","tell","untell"],"description":"What the person does: accept, decline or cancel a question, or stop the run. tell claims to tell the model of the run's end."},` +
		`"ask":{"type":"string","description":"The question's id."},` +
		`"values":{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}},"description":"What is filled in, by field."},` +
		`"unseen":{"type":"boolean","description":"The client has kept the view from showing a part of the question."},` +
		`"part":{"type":"string","enum":["context","message"],"description":"What is told."}},"required":["run","action"],"additionalProperties":false}`)
)

// ReadDefinition returns the definition of [ReadTool].
func ReadDefinition() mcp.Tool {
	t := mcp.NewToolWithRawSchema(ReadTool, "For Beam's view in the chat only: reads a run. Call beam_resume instead.", readInputSchema)
	return forView(t, "Read a run for its view", true)
}

// ActDefinition returns the definition of [ActTool].
func ActDefinition() mcp.Tool {
	t := mcp.NewToolWithRawSchema(ActTool, "For Beam's view in the chat only: records what the person does there. "+
		"Do not call it: the answers must be the user's own.", actInputSchema)
	return forView(t, "Act on a run from its view", false)
}

// forView completes the definition of a tool that only the view may call.
func forView(t mcp.Tool, title string, readOnly bool) mcp.Tool {
	yes, no := true, false
	t.Title = title
	t.Annotations = mcp.ToolAnnotation{Title: title, ReadOnlyHint: &readOnly, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no}
	t.Meta = mcp.NewMetaFromMap(map[string]any{"ui": map[string]any{"visibility": []string{"app"}}})
	return t
}

// ReadArguments are the arguments of [ReadTool].
type ReadArguments struct {
	Run   string `json:"run"`
	After uint64 `json:"after"`
	Wait  int    `json:"wait"`
}

// ActArguments are the arguments of [ActTool].
type ActArguments struct {
	Run    string              `json:"run"`
	Action string              `json:"action"`
	Ask    string              `json:"ask"`
	Values map[string][]string `json:"values"`
	Unseen bool                `json:"unseen"`
	Part   string              `json:"part"`
}

// The actions of [ActTool] that are not answers.
const (
	ActionStop   = "stop"
	ActionTell   = "tell"
	ActionUntell = "untell"
)
