package mcp

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/apps"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// Apps configures how runs are shown, and their questions asked, in the chats of clients
// that show user interfaces there (MCP Apps).
type Apps struct {
	View   apps.View   // nil shows nothing
	Marks  *apps.Marks // required with View
	Policy apps.Policy
	// Ephemeral reports that runs end with this process. Nothing is then shown over stdio:
	// a host may start one process for its model and another one for the view.
	Ephemeral bool
}

// servesApps reports whether runs are shown in chats at all. The model resumes them with
// [ResumeTool].
func (s *Server) servesApps() bool {
	return s.apps.View != nil && s.askPolicy.allowsHandoff() && s.only == ""
}

// usesApps reports whether runs are shown in the client's chat.
func (s *session) usesApps(c *client) bool {
	return s.server.servesApps() && c.SupportsApps() && !(s.steps != nil && s.server.apps.Ephemeral)
}

// isShownInChat reports whether calls of a photon name Beam's view. A photon that must be
// called as a task has no result that a view could show. A tool of another server that has
// a view keeps it; one that has none may ask, which no server declares.
func isShownInChat(p *generators.Photon) bool {
	o := p.Options()
	switch {
	case o.Task == generators.TaskRequired:
		return false
	case o.Definition != nil:
		return !apps.HasView(o.Definition)
	}
	return o.Asks || len(o.Forms) > 0
}

// asksOnlyInChat reports whether the chat is the only place where the client asks the
// photon's questions. Its calls never become tasks: the view needs their results.
func (s *session) asksOnlyInChat(c *client, p *generators.Photon) bool {
	return s.usesApps(c) && isShownInChat(p) && !c.SupportsForms()
}

// asksInChat reports whether the call's view asks the questions that its client can't be
// asked by elicitation.
func (c *call) asksInChat() bool {
	return c.canHandOff() && c.session.usesApps(c.client) && (c.isResume || isShownInChat(c.photon))
}

// leaveForChat ends a call whose open questions its view asks, unless the photon has
// announced further ones.
func (f *follower) leaveForChat() (r reply, done bool) {
	f.mu.Lock()
	ready := f.shownInChat && len(f.linkedAsks) > 0 && len(f.pending) == 0
	f.mu.Unlock()
	if !ready || f.handler.hasQuestions() {
		return reply{}, false
	}
	return f.handOffCall()
}

// addAppsToTools completes a list of tools for a client that shows the view.
func (s *Server) addAppsToTools(rc *requestContext, tools []mcp.Tool) {
	if !rc.usesApps(rc.client) {
		return
	}
	_, digest := s.apps.View.Document()
	for i := range tools {
		p, isPhoton := s.toolPhoton(tools[i].Name)
		switch {
		case tools[i].Name == ResumeTool, isPhoton && p.Options().Definition == nil && isShownInChat(p):
			apps.NameView(&tools[i], digest)
		case tools[i].Meta == nil: // the definitions of other servers' tools are inserted later
			apps.HideFromViews(&tools[i])
		}
		if isPhoton && tools[i].Execution != nil && rc.asksOnlyInChat(rc.client, p) {
			tools[i].Execution = &mcp.ToolExecution{TaskSupport: mcp.TaskSupportForbidden}
		}
	}
}

// adaptDefinition adapts the definition of another server's tool to a client that shows
// the view.
func (s *Server) adaptDefinition(rc *requestContext, p *generators.Photon, definition json.RawMessage) json.RawMessage {
	if !rc.usesApps(rc.client) {
		return definition
	}
	definition = msg.WithoutMember(definition, "outputSchema")
	if isShownInChat(p) {
		_, digest := s.apps.View.Document()
		definition = apps.WithView(definition, digest)
	}
	return definition
}

// extendForApps adds to a result of mcp-go what a client that shows the view gets besides.
func (s *Server) extendForApps(rc *requestContext, m msg.Incoming, result json.RawMessage) json.RawMessage {
	client := rc.client
	if m.Method == string(mcp.MethodInitialize) { // which has just introduced the client
		if client = rc.initializedClient(); client == nil {
			return result
		}
		rc.noteNoApps(client)
	}
	if !rc.usesApps(client) {
		return result
	}
	switch m.Method {
	case string(mcp.MethodInitialize), string(mcp.MethodServerDiscover):
		return msg.WithMembers(result, apps.Capability(), "capabilities", "extensions")
	case string(mcp.MethodToolsList):
		return addCacheHints(rc.client, result) // other clients get another list
	case string(mcp.MethodResourcesList):
		return s.addViewResource(rc, m, result)
	}
	return result
}

// addViewResource adds the view to the first page of a list of resources.
func (s *Server) addViewResource(rc *requestContext, m msg.Incoming, result json.RawMessage) json.RawMessage {
	var params struct {
		Cursor string `json:"cursor"`
	}
	var page struct {
		Resources []json.RawMessage `json:"resources"`
	}
	_ = json.Unmarshal(m.Params, &params)
	if params.Cursor != "" || json.Unmarshal(result, &page) != nil {
		return result
	}
	_, digest := s.apps.View.Document()
	listed := append([]json.RawMessage{msg.Compacted(apps.Resource(digest))}, page.Resources...)
	return addCacheHints(rc.client, msg.WithMembers(result, map[string]any{"resources": listed}))
}

// requestsView reports whether a request reads the view's document, under its present
// address or an earlier one, which the host may have kept.
func (s *Server) requestsView(m msg.Incoming) (uri string, ok bool) {
	if m.Method != string(mcp.MethodResourcesRead) || !s.servesApps() {
		return "", false
	}
	var params struct {
		URI string `json:"uri"`
	}
	return params.URI, json.Unmarshal(m.Params, &params) == nil && apps.IsAddress(params.URI)
}

// viewLifetime is how long a client may keep the view's document, in milliseconds. Its
// address changes with its content.
const viewLifetime = 24 * 60 * 60 * 1000

// serveView serves the view's document. It is the same for everybody.
func (s *Server) serveView(rc *requestContext, m msg.Incoming, uri string) reply {
	html, _ := s.apps.View.Document()
	contents := apps.Contents(uri, html)
	if rc.client.IsModern() {
		contents["ttlMs"], contents["cacheScope"] = viewLifetime, "public"
	}
	return reply{message: msg.EncodeResult(m.ID, s.newResultBase(rc.client, "complete").AddTo(msg.Compacted(contents)))}
}

// noteNoApps logs why a client that shows user interfaces doesn't get Beam's.
func (s *session) noteNoApps(c *client) {
	if s.server.servesApps() && c.SupportsApps() && !s.usesApps(c) {
		s.server.logger.Warn("questions are not asked in this client's chat, because runs are kept in memory and the client may start another process for the chat: use a data folder instead of --memory")
	}
}
