package testserver

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// errCancelled means that the client has cancelled its request.
var errCancelled = errors.New("the client cancelled the request")

// handler serves one method.
type handler func(*request) (object, error)

// handlers returns the handlers of the methods for a version.
func handlers(modern bool) map[string]handler {
	all := map[string]handler{
		"ping":                     func(*request) (object, error) { return object{}, nil },
		"tools/list":               listTools,
		"tools/call":               callTool,
		"resources/list":           func(*request) (object, error) { return object{"resources": resourceList()}, nil },
		"resources/templates/list": func(*request) (object, error) { return object{"resourceTemplates": templateList()}, nil },
		"resources/read":           readResource,
		"prompts/list":             func(*request) (object, error) { return object{"prompts": promptList()}, nil },
		"prompts/get":              getPrompt,
		"completion/complete":      complete,
		"tasks/get":                getTask,
		"tasks/cancel":             cancelTask,
	}
	if modern {
		maps.Copy(all, map[string]handler{"server/discover": discover, "subscriptions/listen": listen, "tasks/update": updateTask})
		delete(all, "ping")
		return all
	}
	maps.Copy(all, map[string]handler{
		"initialize": initialize, "logging/setLevel": func(*request) (object, error) { return object{}, nil },
		"resources/subscribe":   func(*request) (object, error) { return object{}, nil },
		"resources/unsubscribe": func(*request) (object, error) { return object{}, nil },
		"tasks/result":          getTaskResult, "tasks/list": listTasks,
	})
	return all
}

// serve serves a request, and returns the response, or nil if there is none.
func (s *Server) serve(ctx context.Context, sess *session, out sender, m msg.Incoming) []byte {
	r := &request{ctx: ctx, server: s, session: sess, out: out, id: m.ID}
	if m.Params != nil {
		if err := json.Unmarshal(m.Params, &r.params); err != nil {
			return msg.EncodeError(m.ID, msg.Errorf(mcp.INVALID_PARAMS, "params: %s", msg.DescribeJSONError(err)))
		}
	}
	if refused := r.chooseVersion(m.Method); refused != nil {
		return msg.EncodeError(m.ID, refused)
	}
	handlers := s.legacy
	if r.isModern() {
		handlers = s.modern
	}
	serve := handlers[m.Method]
	if serve == nil {
		return msg.EncodeError(m.ID, msg.Errorf(mcp.METHOD_NOT_FOUND, "there is no method %q in %s", m.Method, r.version))
	}
	if r.isModern() {
		if refused := r.readState(); refused != nil {
			return msg.EncodeError(m.ID, refused)
		}
	}
	if s.isSilent() {
		<-ctx.Done()
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.ctx = ctx
	sess.mu.Lock()
	sess.calls[string(m.ID)] = cancel
	sess.mu.Unlock()
	result, err := serve(r)
	sess.mu.Lock()
	delete(sess.calls, string(m.ID))
	sess.mu.Unlock()
	return r.encode(result, err)
}

// chooseVersion sets the version of the request: the one it names itself, or that of its
// session.
func (r *request) chooseVersion(method string) *msg.Error {
	r.session.mu.Lock()
	r.version = r.session.version
	r.session.mu.Unlock()
	if r.Meta.Version != "" {
		r.version = r.Meta.Version
	}
	if r.version == "" { // before initialize
		r.version = r.server.versions[len(r.server.versions)-1]
	}
	if method != "initialize" && !slices.Contains(r.server.versions, r.version) {
		e := msg.Errorf(mcp.UNSUPPORTED_PROTOCOL_VERSION, "the server speaks %q, not %q", r.server.versions, r.version)
		e.Data = object{"supported": r.server.versions, "requested": r.version}
		return e
	}
	return nil
}

// encode returns the response to the request; nil if there is none.
func (r *request) encode(result object, err error) []byte {
	var refused *msg.Error
	switch {
	case errors.Is(err, errNoReply), errors.Is(err, errCancelled), errors.Is(err, context.Canceled):
		return nil
	case errors.Is(err, errInputRequired):
		result = r.inputRequired()
	case errors.As(err, &refused):
		return msg.EncodeError(r.id, refused)
	case err != nil:
		return msg.EncodeError(r.id, msg.Errorf(mcp.INTERNAL_ERROR, "%v", err))
	}
	if r.isModern() {
		r.addBase(result)
	}
	return msg.EncodeResult(r.id, result)
}

// addBase adds the members that every modern result has.
func (r *request) addBase(result object) {
	if result["resultType"] == nil {
		result["resultType"] = "complete"
	}
	meta, _ := result["_meta"].(object)
	result["_meta"] = maps.Clone(meta)
	if meta == nil {
		result["_meta"] = object{}
	}
	result["_meta"].(object)[mcp.MetaKeyServerInfo] = implementation
	for _, cacheable := range []string{"tools", "resources", "resourceTemplates", "prompts", "contents", "supportedVersions"} {
		if result[cacheable] != nil {
			result["ttlMs"], result["cacheScope"] = 0, "private"
		}
	}
}

// handleNotification handles a notification of the client.
func (s *session) handleNotification(m msg.Incoming) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if m.Method != "notifications/cancelled" || json.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.calls[string(p.RequestID)]; cancel != nil {
		cancel(errCancelled)
	}
}

var implementation = object{"name": "beam-test-server", "title": "Beam's test server", "version": "1"}

// capabilities returns what the server declares.
func capabilities(version string) object {
	c := object{
		"tools": object{"listChanged": true}, "resources": object{"listChanged": true, "subscribe": true},
		"prompts": object{"listChanged": true}, "logging": object{}, "completions": object{},
	}
	switch version {
	case mcp.ProtocolVersion20260728:
		c["extensions"] = object{tasksExtension: object{}}
	case mcp.ProtocolVersion20251125:
		c["tasks"] = object{"list": object{}, "cancel": object{}, "requests": object{"tools": object{"call": object{}}}}
	}
	return c
}

func initialize(r *request) (object, error) {
	s := r.server
	agreed := r.ProtocolVersion
	if !slices.Contains(s.versions, agreed) || agreed == Versions[0] {
		i := slices.IndexFunc(s.versions, func(v string) bool { return v != Versions[0] })
		if i < 0 {
			return nil, msg.Errorf(mcp.METHOD_NOT_FOUND, "there is no initialize in %s: name the version in each request", Versions[0])
		}
		agreed = s.versions[i]
	}
	r.session.mu.Lock()
	r.session.version, r.session.declared = agreed, r.Capabilities
	r.session.mu.Unlock()
	r.version = agreed
	result := object{"protocolVersion": agreed, "capabilities": capabilities(agreed), "serverInfo": implementation, "instructions": instructions}
	if s.options.Fault == faultUnknownVersion {
		result["protocolVersion"] = "1999-01-01"
	}
	return result, nil
}

func discover(r *request) (object, error) {
	return object{"supportedVersions": r.server.versions, "capabilities": capabilities(r.version), "instructions": instructions}, nil
}

const instructions = "Each tool tests one thing; its description says which. Tools named fault_… misbehave."

// listen serves subscriptions/listen until the client ends it.
func listen(r *request) (object, error) {
	n := r.Notifications
	wanted := map[string]bool{
		mcp.MethodNotificationToolsListChanged: n.Tools, mcp.MethodNotificationPromptsListChanged: n.Prompts,
		mcp.MethodNotificationResourcesListChanged: n.Resources,
	}
	defer r.server.addStream(&stream{out: r.out, subscription: r.id, wants: func(method, uri string) bool {
		return wanted[method] || method == mcp.MethodNotificationResourceUpdated && slices.Contains(n.URIs, uri)
	}})()
	r.notify(mcp.MethodNotificationSubscriptionsAcknowledged, object{"_meta": msg.SubscriptionMeta(r.id), "notifications": n})
	<-r.ctx.Done()
	return nil, errNoReply
}

// complete serves completion/complete.
func complete(r *request) (object, error) {
	return object{"completion": object{"values": []string{"one", "two", "three"}, "total": 3, "hasMore": false}}, nil
}
