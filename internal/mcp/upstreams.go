package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/calls"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/rawjson"
)

// upstreams serves requests for what upstreams offer besides tools.
type upstreams struct {
	catalogue *catalogue.Catalogue // nil if there are no upstreams
	only      string               // the upstream that is served alone; empty for all
	calls     *calls.Service
	server    mcp.Implementation
	logger    *slog.Logger
}

// items returns the items of a list that a caller may use.
func (u *upstreams) items(list catalogue.List, caller generators.Caller) []json.RawMessage {
	if u.catalogue == nil {
		return nil
	}
	return u.catalogue.Items(list, u.only, caller)
}

// findResource returns the upstream that has a resource, if there is one.
func (u *upstreams) findResource(uri string, caller generators.Caller) (catalogue.Target, bool) {
	if u.catalogue == nil {
		return catalogue.Target{}, false
	}
	return u.catalogue.FindResource(uri, u.only, caller)
}

// read reads a resource of an upstream.
func (u *upstreams) read(r *session.Request, t catalogue.Target, answer func(requests.Reply)) {
	u.serveAsRun(r, t, rename(r.Message.Params, "uri", t.Own), answer)
}

// getPrompt serves prompts/get. It reports false if no upstream has the prompt.
func (u *upstreams) getPrompt(r *session.Request, answer func(requests.Reply)) (served bool) {
	if u.catalogue == nil {
		return false
	}
	t, ok := u.catalogue.FindItem(r.Params.Name, u.only, r.Client.Caller, catalogue.Prompts)
	if ok {
		u.serveAsRun(r, t, rename(r.Message.Params, "name", t.Own), answer)
	}
	return ok
}

// complete serves completion/complete. It reports false if no upstream has what is to be
// completed.
func (u *upstreams) complete(r *session.Request, answer func(requests.Reply)) (served bool) {
	if u.catalogue == nil {
		return false
	}
	var named struct {
		Ref struct {
			Type string `json:"type"`
			URI  string `json:"uri"`
			Name string `json:"name"`
		} `json:"ref"`
	}
	_ = json.Unmarshal(r.Message.Params, &named) // what has another type names nothing
	member, name, lists := "name", named.Ref.Name, []catalogue.List{catalogue.Prompts}
	if named.Ref.Type == "ref/resource" {
		member, name, lists = "uri", named.Ref.URI, []catalogue.List{catalogue.Templates, catalogue.Resources}
	}
	t, ok := u.catalogue.FindItem(name, u.only, r.Client.Caller, lists...)
	if ok {
		ref := rename(rawjson.Member(r.Message.Params, "ref"), member, t.Own)
		answer(u.forward(r, t, replaceMember(r.Message.Params, "ref", ref)))
	}
	return ok
}

// subscribe subscribes to those of the resources that upstreams have, until ctx is done.
func (u *upstreams) subscribe(ctx context.Context, caller generators.Caller, uris ...string) {
	for _, uri := range uris {
		if t, ok := u.findResource(uri, caller); ok {
			u.catalogue.Subscribe(ctx, t)
		}
	}
}

// serveAsRun serves a request to an upstream as a run, so that the upstream can ask the
// person meanwhile.
func (u *upstreams) serveAsRun(r *session.Request, t catalogue.Target, params json.RawMessage, answer func(requests.Reply)) {
	u.calls.ServeUpstreamRequest(r, t.Photon(r.Message.Method), t.Server+" "+r.Message.Method, withoutProtocol(params), answer)
}

// forward sends a request to an upstream that belongs to no run.
func (u *upstreams) forward(r *session.Request, t catalogue.Target, params json.RawMessage) requests.Reply {
	result, err := t.Request(r.InFlight.NewContext(), r.Message.Method, withoutProtocol(params))
	var refused *msg.Error
	switch {
	case r.InFlight.Cause() != nil:
		return requests.Reply{}
	case errors.As(err, &refused):
		return r.Error(refused)
	case err != nil:
		u.logger.Warn("a request to an upstream failed", "upstream", t.Server, "err", err)
		return r.Error(msg.Errorf(mcp.INTERNAL_ERROR, "the upstream %s could not be asked: %v", t.Server, err))
	}
	return r.Result(msg.NewResultBase(&r.Client.Client, "complete", u.server).AddTo(result))
}

// watch passes what upstreams announce to hub, until the returned function is called.
func (u *upstreams) watch(hub *changes.Hub) (stop func()) {
	if u.catalogue == nil {
		return func() {}
	}
	return u.catalogue.Watch(func(method, server, uri string) {
		switch {
		case u.only == "":
			hub.Report(method, catalogue.JoinUI(server, uri))
		case u.only == server:
			hub.Report(method, uri)
		}
	})
}

// protocolParams are the params of a request that belong to the connection with this
// client, and not to what it requests.
var protocolParams = map[string]bool{"_meta": true, "inputResponses": true, "requestState": true}

func withoutProtocol(params json.RawMessage) json.RawMessage {
	return rawjson.MapMembers(params, func(name string, value json.RawMessage) json.RawMessage {
		if protocolParams[name] {
			return nil
		}
		return value
	})
}

// rename replaces a member that is a text.
func rename(object json.RawMessage, member, text string) json.RawMessage {
	return replaceMember(object, member, rawjson.EncodeText(text))
}

func replaceMember(object json.RawMessage, member string, replacement json.RawMessage) json.RawMessage {
	return rawjson.MapMembers(object, func(name string, value json.RawMessage) json.RawMessage {
		if name == member {
			return replacement
		}
		return value
	})
}
