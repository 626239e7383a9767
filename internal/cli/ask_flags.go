package cli

import (
	"time"

	"github.com/photon-beam/beam/internal/mcp"
)

// askFlags are the flags that say what happens to questions that an MCP client
// can't be asked, or does not answer.
type askFlags struct {
	AskFallback string       `default:"link" enum:"link,error" placeholder:"HOW" help:"What happens to a question that an MCP client can't be asked: with link the client is told the address of Beam's page, where you answer it, and the tool waits; with error the tool gets an error (default ${default})."`
	AskHandoff  durationFlag `default:"45s" placeholder:"TIME" help:"How long a call then waits before it ends with that address and a handle, with which the client's model goes on later (default ${default}); 0 is for ever. A client that was asked and says nothing is told the same."`
	KeepAlive   durationFlag `default:"15s" placeholder:"TIME" help:"How often a call that waits for an answer tells its progress, for clients that lose patience without (default ${default}); 0 is never."`
}

// defaultAskFlags is what the flags say that are not there.
var defaultAskFlags = askFlags{AskFallback: "link", AskHandoff: durationFlag(45 * time.Second), KeepAlive: durationFlag(15 * time.Second)}

func (a *askFlags) mcpAskPolicy() mcp.AskPolicy {
	return mcp.AskPolicy{Link: a.AskFallback == "link", Handoff: time.Duration(a.AskHandoff), KeepAlive: time.Duration(a.KeepAlive)}
}

// mcpInstructions tell a model what becomes of questions.
func (a *askFlags) mcpInstructions() string {
	switch {
	case a.AskFallback != "link":
		return "A tool that fails because nobody could be asked says what the client lacks."
	case a.AskHandoff == 0:
		return "Where the client can't ask, its progress and log name an address: the user answers there."
	}
	return "A tool may end before it is done and say that it waits for an answer: give the user the address that it names, " +
		"and then call " + mcp.ResumeTool + " with the handle that it gives. Do not call the tool itself again for that."
}
