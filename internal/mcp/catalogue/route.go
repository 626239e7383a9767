package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/toolresult"
)

// The methods of requests that become runs, as calls of tools do.
const (
	methodRead      = "resources/read"
	methodGetPrompt = "prompts/get"
)

// A Target is an upstream that has what a request names, under the upstream's own name
// or address.
type Target struct {
	Server string
	Own    string
	served *served
}

// Photon returns the photon that makes requests of a method, resources/read or
// prompts/get. It isn't registered. Its arguments are the request's params.
func (t Target) Photon(method string) *generators.Photon { return t.served.request[method] }

// Request sends a request that belongs to no run.
func (t Target) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if t.served.Source.Request == nil {
		return nil, errors.New("the upstream is not connected")
	}
	return t.served.Source.Request(ctx, Request{Method: method, Params: params})
}

// FindItem returns the upstream that has an item of one of the lists, as Items lists it.
func (c *Catalogue) FindItem(name, only string, caller generators.Caller, lists ...List) (Target, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.allowed(only, caller) {
		for _, l := range lists {
			for _, i := range s.lists[l] {
				if i.own == name && only != "" || only == "" && listKinds[l].join(s.Name, i.own) == name {
					return Target{s.Name, i.own, s}, true
				}
			}
		}
	}
	return Target{}, false
}

// FindResource returns the upstream that a resource is read from: the one that lists it,
// that has a template for it, or whose result was the first to name it. A user interface's address
// names its upstream.
func (c *Catalogue) FindResource(uri, only string, caller generators.Caller) (Target, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.allowed(only, caller)
	if only != "" {
		if len(all) == 0 {
			return Target{}, false
		}
		return Target{only, uri, all[0]}, true
	}
	if _, _, isUI := message.CutUIScheme(uri); isUI {
		server, own, ok := SplitUI(uri)
		s := c.servers[server]
		if !ok || s == nil || s.Allow != nil && s.Allow(caller) != nil {
			return Target{}, false
		}
		return Target{server, own, s}, true
	}
	find := func(has func(*served) bool) (Target, bool) {
		for _, s := range all {
			if has(s) {
				return Target{s.Name, uri, s}, true
			}
		}
		return Target{}, false
	}
	if t, ok := find(func(s *served) bool { return s.listsResource(uri) }); ok {
		return t, true
	}
	if len(uri) > maxIdentifier {
		return Target{}, false
	}
	if t, ok := find(func(s *served) bool { return s.matchesTemplate(uri) }); ok {
		return t, true
	}
	from, _ := c.seen.find(uri)
	return find(func(s *served) bool { return s.Name == from })
}

func (s *served) listsResource(uri string) bool {
	return slices.ContainsFunc(s.lists[Resources], func(i item) bool { return i.own == uri })
}

func (s *served) matchesTemplate(uri string) bool {
	for _, i := range s.lists[Templates] {
		if i.template.Match(uri) != nil {
			return true
		}
	}
	return false
}

// newRequestPhoton returns the photon of the runs that are requests of a method.
func newRequestPhoton(s *Source, method string) *generators.Photon {
	input, err := generators.ParseSchema(anyObject)
	if err != nil {
		panic(err) // it is valid
	}
	call := func(ctx context.Context, params json.RawMessage, yield generators.Yield) (json.RawMessage, error) {
		result, err := s.Call(ctx, yield, Request{Method: method, Params: params})
		if err == nil && rawjson.TypeName(result) != rawjson.ObjectType {
			err = errors.New("the server returned a result that is not an object")
		}
		var refused *message.Error
		switch {
		case errors.As(err, &refused):
			toolresult.RecordUnkept(ctx, ErrorResult(refused))
		case err == nil:
			toolresult.RecordUnkept(ctx, result)
		}
		return nil, err
	}
	// A dot is in the names of no tools.
	name := s.Name + separator + strings.ReplaceAll(method, "/", ".")
	return generators.FromSchema(name, input, nil, call, &generators.Options{
		Title: method, Group: s.Name, Allow: s.Allow, Definition: anyObject,
	})
}

// ErrorResult returns the recorded result of a request that failed with an error
// response: an object with nothing but the error.
func ErrorResult(e *message.Error) json.RawMessage {
	return message.Compacted(map[string]any{"error": e})
}

// maxSeen is the number of resources that seenResources remembers.
const maxSeen = 10_000

// seenResources remembers from which upstream the addresses of resources came that
// results named, since they need not be in a list. The zero value is empty.
type seenResources struct {
	byURI map[string]string
	order []string // a ring
	next  int
}

func (r *seenResources) find(uri string) (server string, ok bool) {
	server, ok = r.byURI[uri]
	return server, ok
}

func (r *seenResources) add(server, uri string) {
	if uri == "" || len(uri) > maxIdentifier {
		return
	}
	if r.byURI == nil {
		r.byURI = make(map[string]string)
	}
	if _, known := r.byURI[uri]; known {
		return // no other upstream takes it over
	}
	if len(r.order) < maxSeen {
		r.order = append(r.order, uri)
	} else {
		delete(r.byURI, r.order[r.next])
		r.order[r.next] = uri
		r.next = (r.next + 1) % maxSeen
	}
	r.byURI[uri] = server
}

// noteResources remembers the resources that a result names.
func (c *Catalogue) noteResources(server string, content []json.RawMessage) {
	var uris []string
	for _, raw := range content {
		var b contentBlock
		if json.Unmarshal(raw, &b) == nil && (b.Type == "resource_link" || b.Type == "resource") {
			uris = append(uris, b.URI, b.Resource.URI)
		}
	}
	if uris == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, uri := range uris {
		c.seen.add(server, uri)
	}
}
