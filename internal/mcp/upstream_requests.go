package mcp

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/upstream/catalogue"
)

// upstreamLists are the lists that have what upstreams offer.
var upstreamLists = map[string]catalogue.List{
	string(mcp.MethodResourcesList):          catalogue.Resources,
	string(mcp.MethodResourcesTemplatesList): catalogue.Templates,
	string(mcp.MethodPromptsList):            catalogue.Prompts,
}

const (
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodComplete    = "completion/complete"
)

// isUpstreamMethod reports whether requests of a method may be for upstreams. Calls of
// tools are served as those of any photon.
func isUpstreamMethod(method string) bool {
	switch method {
	case string(mcp.MethodResourcesRead), string(mcp.MethodPromptsGet), methodComplete, methodSubscribe:
		return true
	}
	return upstreamLists[method] != ""
}

// serveUpstreamRequest serves a request that may be for an upstream. What mcp-go's server
// has itself comes first.
func (s *Server) serveUpstreamRequest(rc *requestContext, m msg.Incoming, p *requestParams, answer func(reply)) {
	if list := upstreamLists[m.Method]; list != "" {
		answer(s.serveList(rc, m, list))
		return
	}
	var named struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
		Ref  struct {
			Type string `json:"type"`
			URI  string `json:"uri"`
			Name string `json:"name"`
		} `json:"ref"`
	}
	_ = json.Unmarshal(m.Params, &named) // what has another type names nothing
	caller := rc.client.caller
	switch m.Method {
	case string(mcp.MethodResourcesRead):
		s.serveRead(rc, m, p, named.URI, answer)
		return
	case string(mcp.MethodPromptsGet):
		if t, ok := s.upstreams.FindPrompt(named.Name, s.only, caller); ok {
			s.serveRequestRun(rc, m, p, t, rename(m.Params, "name", t.Own), answer)
			return
		}
	case methodComplete:
		t, ok := s.upstreams.FindPrompt(named.Ref.Name, s.only, caller)
		member := "name"
		if named.Ref.Type == "ref/resource" {
			t, ok = s.upstreams.FindTemplate(named.Ref.URI, s.only, caller)
			member = "uri"
		}
		if ok {
			ref := rename(rawjson.Member(m.Params, "ref"), member, t.Own)
			answer(s.forwardRequest(rc, m, t, replaceMember(m.Params, "ref", ref)))
			return
		}
	case methodSubscribe:
		if t, ok := s.upstreams.FindResource(named.URI, s.only, caller); ok {
			s.upstreams.Subscribe(rc.inFlight.NewContext(), t)
		}
	}
	answer(s.serveByLibrary(rc, m))
}

// serveRead serves resources/read.
func (s *Server) serveRead(rc *requestContext, m msg.Incoming, p *requestParams, uri string, answer func(reply)) {
	t, ok := s.upstreams.FindResource(uri, s.only, rc.client.caller)
	if _, _, isUI := msg.CutUIScheme(uri); s.only == "" && !isUI {
		own := s.serveByLibrary(rc, m)
		missing := own.code == mcp.RESOURCE_NOT_FOUND || own.code == mcp.INVALID_PARAMS
		if !ok || !missing {
			answer(own)
			return
		}
	}
	if !ok {
		answer(s.serveByLibrary(rc, m))
		return
	}
	s.serveRequestRun(rc, m, p, t, rename(m.Params, "uri", t.Own), answer)
}

// serveRequestRun serves a request to an upstream as a run, so that the upstream can ask
// the person meanwhile. A run during which it asked nothing is forgotten.
func (s *Server) serveRequestRun(rc *requestContext, m msg.Incoming, p *requestParams, t catalogue.Target, params json.RawMessage, answer func(reply)) {
	c := &call{
		server: s, session: rc.session, client: rc.client, requestID: m.ID, progressToken: p.Meta.ProgressToken,
		photon: t.Photon(m.Method), request: m.Method, received: m.Raw,
	}
	c.sender = c.recorded(rc.sender)
	p.Name, p.Arguments = t.Server+" "+m.Method, withoutProtocol(params)
	finish := func(r reply) {
		if !c.asked.Load() {
			if err := s.engine.Discard(rc.client.caller, c.runID); err != nil {
				s.logger.Error("forgetting a request to an upstream", "run", c.runID, "err", err)
			}
		}
		answer(r)
	}
	finish = c.recordReplies(finish)
	if rc.client.IsModern() {
		c.serveRoundTrip(rc.inFlight, p, finish)
		return
	}
	c.serveDirectCall(rc.inFlight, p, finish)
}

// protocolParams are the params of a request that belong to the connection with this
// client, and not to what it requests.
var protocolParams = map[string]bool{"_meta": true, "inputResponses": true, "requestState": true}

func withoutProtocol(params json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	rawjson.EachMember(params, func(name []byte, value json.RawMessage) {
		if !protocolParams[string(name)] {
			out = msg.AppendMember(out, string(name), value)
		}
	})
	return append(out, '}')
}

// rename replaces a member that is a text.
func rename(object json.RawMessage, member, text string) json.RawMessage {
	return replaceMember(object, member, rawjson.EncodeText(text))
}

func replaceMember(object json.RawMessage, member string, replacement json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	rawjson.EachMember(object, func(name []byte, value json.RawMessage) {
		if string(name) == member {
			value = replacement
		}
		out = msg.AppendMember(out, string(name), value)
	})
	return append(out, '}')
}

// requestReply returns the reply to a request to an upstream, given what its run ended
// with.
func (c *call) requestReply(result *msg.ToolResult, cursor string) reply {
	content := result.Foreign()
	if content == nil {
		text := "the request failed"
		if len(result.Content) > 0 && result.Content[0].Text != nil {
			text = *result.Content[0].Text
		}
		return errorReply(c.requestID, msg.Errorf(mcp.INTERNAL_ERROR, "%s", text))
	}
	var failed struct {
		Error *msg.Error `json:"error"`
	}
	if json.Unmarshal(content, &failed) == nil && failed.Error != nil {
		return errorReply(c.requestID, c.translateError(failed.Error))
	}
	base := c.server.newResultBase(c.client, "complete")
	if c.request == string(mcp.MethodResourcesRead) {
		content = addCacheHints(c.client, content)
	}
	return reply{message: msg.EncodeResult(c.requestID, base.AddTo(content)), cursor: cursor}
}

// translateError returns an upstream's error as one of the client's version: what a
// missing resource is has changed.
func (c *call) translateError(e *msg.Error) *msg.Error {
	if e.Code == mcp.RESOURCE_NOT_FOUND && c.client.IsModern() {
		e.Code = mcp.INVALID_PARAMS
	}
	return e
}

// addCacheHints adds to a result what modern clients require it to say of caching.
func addCacheHints(c *client, result json.RawMessage) json.RawMessage {
	if !c.IsModern() {
		return result
	}
	hints := map[string]any{"ttlMs": 0, "cacheScope": "private"}
	for name := range hints {
		if rawjson.Member(result, name) != nil {
			delete(hints, name)
		}
	}
	return msg.WithMembers(result, hints)
}

// forwardRequest sends a request to an upstream that belongs to no run.
func (s *Server) forwardRequest(rc *requestContext, m msg.Incoming, t catalogue.Target, params json.RawMessage) reply {
	result, err := t.Request(rc.inFlight.NewContext(), m.Method, withoutProtocol(params))
	if rc.inFlight.Cause() != nil {
		return reply{}
	}
	if err != nil {
		return errorReply(m.ID, s.upstreamError(t.Server, err))
	}
	base := s.newResultBase(rc.client, "complete")
	return reply{message: msg.EncodeResult(m.ID, base.AddTo(result))}
}
