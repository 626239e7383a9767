package cli

import (
	"time"

	"github.com/photon-beam/beam/internal/mcp"
)

// askFlags are the flags for questions that an MCP client can't show or doesn't
// answer.
type askFlags struct {
	AskFallback string       `default:"link" enum:"link,error" placeholder:"HOW" help:"What to do with a question that an MCP client can't show: link gives the client the address of Beam's page, where you answer while the tool waits; error ends the tool with an error (default ${default})."`
	AskHandoff  durationFlag `default:"45s" placeholder:"TIME" help:"How long a call waits for such an answer before it returns the address and a handle, with which the client's model can continue it later (default ${default}); 0 waits forever. The same applies to a client that can show the question but doesn't answer."`
	KeepAlive   durationFlag `default:"15s" placeholder:"TIME" help:"How often a call that waits for an answer reports progress, for clients that would time out otherwise (default ${default}); 0 turns this off."`
}

// defaultAskFlags are the flags' default values.
var defaultAskFlags = askFlags{AskFallback: "link", AskHandoff: durationFlag(45 * time.Second), KeepAlive: durationFlag(15 * time.Second)}

func (a *askFlags) mcpAskPolicy() mcp.AskPolicy {
	return mcp.AskPolicy{Link: a.AskFallback == "link", Handoff: time.Duration(a.AskHandoff), KeepAlive: time.Duration(a.KeepAlive)}
}

// mcpInstructions returns instructions for a client's model about questions that
// the client can't show.
func (a *askFlags) mcpInstructions() string {
	switch {
	case a.AskFallback != "link":
		return "If a tool fails because it could not ask the user, its error names the capability that the client is missing."
	case a.AskHandoff == 0:
		return "If the client can't show a question, the call's progress and log give an address: the user answers there."
	}
	return "A tool may return before it is done and say that it is waiting for an answer: give the user the address in its result, " +
		"and then call " + mcp.ResumeTool + " with the handle in it. Do not call the tool itself again for that."
}
