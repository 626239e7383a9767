package calls

import (
	"encoding/json"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/apps"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/rawjson"
)

// Chat configures how runs are shown, and their questions asked, in the chats of clients
// that show user interfaces there (MCP Apps).
type Chat struct {
	View   apps.View   // nil shows nothing
	Marks  *apps.Marks // required with View
	Policy apps.Policy
	// Ephemeral reports that runs end with this process. Nothing is then shown over stdio:
	// a host may start one process for its model and another one for the view.
	Ephemeral bool
}

// IsUsedBy reports whether runs are shown in the client's chat. The model resumes them with
// [ResumeTool].
func (c *Chat) IsUsedBy(sess *session.Session, client *requests.Client) bool {
	return c.View != nil && client.SupportsApps() && !c.IsKeptFrom(sess, client)
}

// IsKeptFrom reports whether runs are not shown in the client's chat although it shows user
// interfaces, because they end with this process.
func (c *Chat) IsKeptFrom(sess *session.Session, client *requests.Client) bool {
	return c.View != nil && client.SupportsApps() && sess.Steps != nil && c.Ephemeral
}

// IsShownInChat reports whether calls of a photon name Beam's view. A photon that must be
// called as a task has no result that a view could show. A tool of another server that has
// a view keeps it; one that has none may ask, which no server declares.
func IsShownInChat(p *generators.Photon) bool {
	o := p.Options()
	switch {
	case o.Task == generators.TaskRequired:
		return false
	case o.Definition != nil:
		return !apps.HasView(o.Definition)
	}
	return o.Asks || len(o.Forms) > 0
}

// IsOnlyPlace reports whether the chat is the only place where the client asks the photon's
// questions. Its calls never become tasks: the view needs their results.
func (c *Chat) IsOnlyPlace(sess *session.Session, client *requests.Client, p *generators.Photon) bool {
	return c.IsUsedBy(sess, client) && IsShownInChat(p) && !client.SupportsForms()
}

// GuaranteedOutputSchema returns the schema of the structured content that every result
// of the photon has for the client, or nil. There is none for a client that can't be
// asked: its calls may be handed off, with a result that has no structured content. Nor
// is there one for a client that shows Beam's view, which gets results of another form.
func (c *Config) GuaranteedOutputSchema(sess *session.Session, client *requests.Client, p *generators.Photon) json.RawMessage {
	if c.Chat.IsUsedBy(sess, client) {
		return nil
	}
	if p.Options().Definition != nil { // which says what it says; a hand-off is an error
		return rawjson.Member(p.Options().Definition, "outputSchema")
	}
	if c.Policy.AllowsHandoff() && !client.SupportsForms() && !client.SupportsURLs() {
		return nil
	}
	return msg.OutputSchema(p, &client.Client)
}

// serveViewTool serves a call of one of the view's tools.
func (s *Service) serveViewTool(r *session.Request) requests.Reply {
	base, _ := r.Session.PageBaseURL() // without pages, the view has no links
	result, err := s.view.Serve(r.InFlight.NewContext(), apps.Call{
		Tool: r.Params.Name, Arguments: r.Params.Arguments, Caller: r.Client.Caller, ClientName: r.Client.Name, Base: base,
	})
	if r.InFlight.Cause() != nil {
		return requests.Reply{}
	}
	if err != nil {
		result = map[string]string{"error": s.view.DescribeError(r.Params.Name, err)}
	}
	raw := msg.Compacted(result)
	return s.starter.replies(r, toolResult).result(&msg.ToolResult{Content: []msg.ContentBlock{msg.TextBlock(string(raw))}, Structured: raw, IsError: err != nil}, "")
}
