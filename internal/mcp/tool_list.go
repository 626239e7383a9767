package mcp

import (
	"cmp"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/mcp/calls"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/registry"
)

// A toolList has the tools that the server offers: a registry's photons, and Beam's own.
type toolList struct {
	engine    *engine.Engine
	photons   *registry.Registry
	upstreams *catalogue.Catalogue // nil if there are none
	only      string               // the upstream that is served alone; empty for all photons
	calls     *calls.Config
	changes   *changes.Hub
	logger    *slog.Logger

	mu      sync.Mutex                    // held while the list is replaced, so that no older one replaces a newer one
	offered map[string]*generators.Photon // by the names of their tools
	tools   []mcp.Tool                    // by name
}

// refresh takes over the photons of the registry, and reports the change.
func (l *toolList) refresh() {
	l.mu.Lock()
	defer l.mu.Unlock()
	offered := l.offeredPhotons()
	if l.only != "" && maps.Equal(offered, l.offered) { // another upstream's have changed
		return
	}
	var tools []mcp.Tool
	if l.calls.Policy.AllowsHandoff() {
		tools = append(tools, calls.ResumeDefinition(), calls.CancelDefinition())
	}
	if l.calls.Chat.View != nil {
		tools = append(tools, apps.ReadDefinition(), apps.ActDefinition())
	}
	for name, p := range offered {
		tools = append(tools, newTool(name, p))
	}
	slices.SortFunc(tools, func(a, b mcp.Tool) int { return cmp.Compare(a.Name, b.Name) })
	l.offered, l.tools = offered, tools
	l.changes.Report(mcp.MethodNotificationToolsListChanged, "")
}

// current returns the tools, by name.
func (l *toolList) current() []mcp.Tool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools
}

// offeredPhotons returns the photons that the server offers, by the names of their tools.
func (l *toolList) offeredPhotons() map[string]*generators.Photon {
	offered := make(map[string]*generators.Photon)
	for _, p := range l.photons.All() {
		name := p.Name()
		if l.only != "" {
			t, ok := l.upstreams.ToolOf(p)
			if !ok || t.Server != l.only {
				continue
			}
			name = t.Name
		}
		if l.calls.IsBeamTool(name) {
			l.logger.Warn("a photon is not offered over MCP because Beam has a tool of that name", "photon", name)
			continue
		}
		offered[name] = p
	}
	return offered
}

// find returns the photon that a tool calls, whoever may use it.
func (l *toolList) find(name string) (*generators.Photon, bool) {
	if l.calls.IsBeamTool(name) {
		return nil, false
	}
	if l.only == "" {
		return l.photons.Lookup(name)
	}
	p, ok := l.photons.Lookup(catalogue.JoinName(l.only, name))
	if !ok {
		return nil, false
	}
	t, ok := l.upstreams.ToolOf(p)
	return p, ok && t.Server == l.only && t.Name == name
}

func newTool(name string, p *generators.Photon) mcp.Tool {
	o := p.Options()
	if o.Definition != nil { // which the list has instead
		return mcp.NewToolWithRawSchema(name, "", rawjson.Member(o.Definition, "inputSchema"))
	}
	t := mcp.NewToolWithRawSchema(name, o.Description, msg.InputSchema(p))
	t.Title = o.Title
	t.Annotations = mcp.ToolAnnotation{
		Title: o.Title, ReadOnlyHint: &o.ReadOnly, DestructiveHint: &o.Destructive,
		IdempotentHint: &o.Idempotent, OpenWorldHint: &o.OpenWorld,
	}
	return t
}

// isOffered reports whether a tool is one that a caller may use. Tools that are no photons
// are everybody's.
func (l *toolList) isOffered(caller generators.Caller, name string) bool {
	p, isPhoton := l.find(name)
	if !isPhoton {
		return true
	}
	_, ok := l.engine.LookupPhoton(caller, p.Name())
	return ok
}

// checkHeaders compares the headers that the schema of a called tool requires with the
// request's params.
func (l *toolList) checkHeaders(caller generators.Caller, name string, m msg.Incoming, h http.Header) error {
	tools := l.current()
	i, found := slices.BinarySearchFunc(tools, name, func(t mcp.Tool, name string) int { return cmp.Compare(t.Name, name) })
	if !found || !l.isOffered(caller, name) {
		return nil
	}
	return mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		values := h.Values(name)
		return strings.Join(values, ", "), len(values) > 0
	}, &tools[i], m.Params)
}

// list serves tools/list, with the tools that the caller may use.
func (l *toolList) list(r *session.Request) requests.Reply {
	usesView := l.calls.Chat.IsUsedBy(r.Session, r.Client)
	tools := slices.DeleteFunc(slices.Clone(l.current()), func(t mcp.Tool) bool {
		isOfView := apps.IsTool(t.Name) && l.calls.IsBeamTool(t.Name)
		return isOfView && !usesView || !l.isOffered(r.Client.Caller, t.Name)
	})
	all := pagedList{
		"tools", len(tools), func(i int) any { return l.describe(r, tools[i], usesView) },
		func(i int) string { return tools[i-1].Name }, // so that no tool is skipped when the list changes between two pages
		func(cursor string) (int, bool) { return findTool(tools, cursor) },
	}
	return all.reply(r, l.calls.Server)
}

// describe returns a tool as a list for a client has it.
func (l *toolList) describe(r *session.Request, t mcp.Tool, usesView bool) any {
	p, isPhoton := l.find(t.Name)
	if isPhoton && p.Options().Definition != nil {
		return l.describeForeign(r, t.Name, p, usesView)
	}
	if isPhoton {
		t.RawOutputSchema = l.calls.GuaranteedOutputSchema(r.Session, r.Client, p)
		t.Execution = tasks.Execution(p, &r.Client.Client)
	}
	if !r.Client.VersionAtLeast(mcp.ProtocolVersion20250618) {
		t.Title = "" // these clients read annotations.title
	}
	if usesView {
		l.nameView(r, &t, p)
	}
	if isPhoton && tasks.IsHinted(p, t.Execution) {
		raw := msg.Compacted(t)
		return msg.WithMembers(raw, map[string]any{"taskHint": "always"}, "annotations")
	}
	return t
}

// describeForeign returns the definition of another server's tool.
func (l *toolList) describeForeign(r *session.Request, name string, p *generators.Photon, usesView bool) any {
	definition := msg.ToolDefinition(p, name, &r.Client.Client, l.calls.MapUI(p))
	if !usesView {
		return definition
	}
	definition = msg.WithoutMember(definition, "outputSchema")
	if calls.IsShownInChat(p) {
		_, digest := l.calls.Chat.View.Document()
		definition = apps.WithView(definition, digest)
	}
	return definition
}

// nameView completes a tool for a client that shows the view. p is nil for Beam's own.
func (l *toolList) nameView(r *session.Request, t *mcp.Tool, p *generators.Photon) {
	switch {
	case t.Name == calls.ResumeTool, p != nil && calls.IsShownInChat(p):
		_, digest := l.calls.Chat.View.Document()
		apps.NameView(t, digest)
	case t.Meta == nil:
		apps.HideFromViews(t)
	}
	if p != nil && t.Execution != nil && l.calls.Chat.IsOnlyPlace(r.Session, r.Client, p) {
		t.Execution = &mcp.ToolExecution{TaskSupport: mcp.TaskSupportForbidden}
	}
}

// findTool returns the first tool after the one with a name, which may be gone. It reports false
// for what can't be the name of a tool.
func findTool(tools []mcp.Tool, name string) (int, bool) {
	i, found := slices.BinarySearchFunc(tools, name, func(t mcp.Tool, name string) int { return cmp.Compare(t.Name, name) })
	if found {
		i++
	}
	return i, utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
