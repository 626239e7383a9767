package command

import (
	"time"

	"github.com/photon-beam/beam/internal/mcp"
)

// AskFlags are the flags for questions that an MCP client can't show or doesn't
// answer.
type AskFlags struct {
	AskFallback string   `default:"link" enum:"link,error" placeholder:"HOW" help:"What to do with a question that an MCP client can't show: link gives the client the address of Beam's page, where you answer while the tool waits; error ends the tool with an error (default ${default})."`
	AskHandoff  Duration `default:"45s" placeholder:"TIME" help:"How long a call whose client was asked waits for an answer before it returns the address and a handle, with which the client's model can continue it later (default ${default}); 0 waits forever. A call whose client can't show the question returns them after a second."`
	KeepAlive   Duration `default:"15s" placeholder:"TIME" help:"How often a call that waits for an answer reports progress, for clients that would time out otherwise (default ${default}); 0 turns this off."`

	AppsDestructive bool `help:"Let questions that confirm what can't be undone be answered in the chat of an MCP client that shows Beam's view there, where nobody proves who answers. Without it, they are answered on Beam's page."`
}

// DefaultAskFlags are the flags' default values.
var DefaultAskFlags = AskFlags{AskFallback: "link", AskHandoff: Duration(45 * time.Second), KeepAlive: Duration(15 * time.Second)}

func (a *AskFlags) mcpAskPolicy() mcp.AskPolicy {
	return mcp.AskPolicy{Link: a.AskFallback == "link", Handoff: time.Duration(a.AskHandoff), KeepAlive: time.Duration(a.KeepAlive)}
}
