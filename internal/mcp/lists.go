package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/mcp/calls"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
)

// listPageSize is the maximum number of tools, prompts or resources on one page of a
// list.
const listPageSize = 500

// newResult returns a result with members, for the client's version.
func newResult(r *session.Request, server mcp.Implementation, members map[string]any) map[string]any {
	base := msg.NewResultBase(&r.Client.Client, "complete", server)
	if base.Type != "" {
		members["resultType"], members["_meta"] = base.Type, base.Meta
	}
	return members
}

// newCacheableResult is newResult for a result that modern clients must be told how to
// cache.
func newCacheableResult(r *session.Request, server mcp.Implementation, members map[string]any) map[string]any {
	if r.Client.IsModern() {
		maps.Copy(members, map[string]any{"ttlMs": 0, "cacheScope": "private"})
	}
	return newResult(r, server, members)
}

// A pagedList is a list that is read page by page (MCP, Pagination).
type pagedList struct {
	member string // of the result
	count  int
	item   func(i int) any
	// cursor returns the cursor of the page that begins with the item i, and find the item with
	// which a cursor's page begins. It reports false for a cursor that no list has returned.
	cursor func(i int) string
	find   func(cursor string) (i int, valid bool)
}

// findPosition is [pagedList.find] for cursors that are positions.
func findPosition(cursor string) (int, bool) {
	i, err := strconv.Atoi(cursor)
	return i, err == nil && i >= 0
}

// reply returns the page of the list that a request wants. Only that page's items are made.
func (l pagedList) reply(r *session.Request, server mcp.Implementation) requests.Reply {
	cursor, valid := parseCursor(r.Message.Params)
	from := 0
	if valid && cursor != "" {
		from, valid = l.find(cursor)
	}
	if !valid || from > l.count {
		return r.Error(msg.Errorf(mcp.INVALID_PARAMS, "cursor is not from this list: start without one"))
	}
	to := min(from+listPageSize, l.count)
	items := make([]any, 0, to-from)
	for i := from; i < to; i++ {
		items = append(items, l.item(i))
	}
	members := map[string]any{l.member: items}
	if to < l.count {
		members["nextCursor"] = base64.StdEncoding.EncodeToString([]byte(l.cursor(to)))
	}
	return r.Result(newCacheableResult(r, server, members))
}

// parseCursor returns the cursor of a request for a list, empty for none. It reports false for
// what can't be one.
func parseCursor(params json.RawMessage) (cursor string, valid bool) {
	var p struct {
		Cursor json.RawMessage `json:"cursor"`
	}
	if json.Unmarshal(params, &p) != nil || p.Cursor == nil || bytes.Equal(p.Cursor, msg.Null) {
		return "", true
	}
	if json.Unmarshal(p.Cursor, &cursor) != nil {
		return "", false
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(cursor)
	return string(decoded), err == nil
}

// offers are what the server offers besides tools, in lists: what the program has
// registered, what Beam adds, and what upstreams offer.
type offers struct {
	library   library
	chat      *calls.Chat
	upstreams *upstreams
	artifacts *artifacts // nil if there are none to read
	server    mcp.Implementation
}

// list serves a list of offers.
func (o *offers) list(r *session.Request) requests.Reply {
	own, refused := o.listAll(r)
	if refused != nil {
		return r.Error(refused)
	}
	var items []any
	list := upstreamLists[r.Message.Method]
	switch result := own.(type) {
	case mcp.ListResourcesResult:
		if o.chat.IsUsedBy(r.Session, r.Client) {
			_, digest := o.chat.View.Document()
			items = append(items, apps.Resource(digest))
		}
		items = appendItems(items, result.Resources)
	case mcp.ListResourceTemplatesResult:
		if o.artifacts != nil {
			items = append(items, artifactTemplate())
		}
		items = appendItems(items, result.ResourceTemplates)
	case mcp.ListPromptsResult:
		items = appendItems(items, result.Prompts)
	}
	items = appendItems(items, o.upstreams.items(list, r.Client.Caller))
	all := pagedList{list.Member(), len(items), func(i int) any { return items[i] }, strconv.Itoa, findPosition}
	return all.reply(r, o.server)
}

// listAll returns all that the library has of a list.
func (o *offers) listAll(r *session.Request) (result any, refused *msg.Error) {
	all := *r // without a cursor
	all.Message.Raw = msg.Encode(msg.Outgoing{ID: r.ID(), Method: r.Message.Method, Params: msg.WithoutMember(r.Message.Params, "cursor")})
	return o.library.serve(&all)
}

func appendItems[T any](all []any, more []T) []any {
	for _, m := range more {
		all = append(all, m)
	}
	return all
}

// upstreamLists are the lists that have what upstreams offer.
var upstreamLists = map[string]catalogue.List{
	string(mcp.MethodResourcesList):          catalogue.Resources,
	string(mcp.MethodResourcesTemplatesList): catalogue.Templates,
	string(mcp.MethodPromptsList):            catalogue.Prompts,
}
