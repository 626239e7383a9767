package catalogue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/yosida95/uritemplate/v3"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A List is a list of what an upstream offers besides tools: the method that lists it.
type List string

// The lists.
const (
	Resources List = "resources/list"
	Templates List = "resources/templates/list"
	Prompts   List = "prompts/list"
)

// listKinds has what the lists differ in.
var listKinds = map[List]struct {
	member, capability, identifier string
	join                           func(server, own string) string // an item's identifier among all upstreams
}{
	Resources: {"resources", "resources", "uri", JoinUI},
	Templates: {"resourceTemplates", "resources", "uriTemplate", JoinUI},
	Prompts:   {"prompts", "prompts", "name", JoinName},
}

// Member returns the member of the list's result that has the items.
func (l List) Member() string { return listKinds[l].member }

// Capability returns the capability of servers that have the list.
func (l List) Capability() string { return listKinds[l].capability }

// identifier returns the member of an item that identifies it.
func (l List) identifier() string { return listKinds[l].identifier }

// Changed returns the notification of a change of the list.
func (l List) Changed() string { return "notifications/" + l.Capability() + "/list_changed" }

// An item is an element of a list.
type item struct {
	own      string // what identifies it in the upstream
	raw      json.RawMessage
	template *uritemplate.Template // of Templates
}

// The limits of the items of one list of an upstream.
const (
	maxItems      = 10_000
	maxItem       = 256 << 10 // bytes
	maxIdentifier = 2 << 10   // bytes of what identifies an item
)

// parseItem decodes and checks an item.
func (l List) parseItem(raw json.RawMessage) (i item, err error) {
	i.raw = raw
	if len(raw) > maxItem {
		return i, fmt.Errorf("it has %d bytes; at most %d are accepted", len(raw), maxItem)
	}
	if rawjson.Depth(raw) > maxDepth {
		return i, fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	var members struct {
		Name        *string                    `json:"name"`
		Title       string                     `json:"title"`
		Description string                     `json:"description"`
		MimeType    string                     `json:"mimeType"`
		Annotations map[string]json.RawMessage `json:"annotations"`
		Meta        map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &members); err != nil {
		return i, errors.New("its definition is malformed")
	}
	if json.Unmarshal(rawjson.Member(raw, l.identifier()), &i.own) != nil || i.own == "" {
		return i, fmt.Errorf("it has no %s", l.identifier())
	}
	if len(i.own) > maxIdentifier {
		return i, fmt.Errorf("its %s has %d bytes; at most %d are accepted", l.identifier(), len(i.own), maxIdentifier)
	}
	switch l {
	case Prompts:
		err = checkOwnName(i.own)
	case Templates:
		i.template, err = uritemplate.New(i.own)
	}
	if members.Name == nil && err == nil {
		err = errors.New("it has no name")
	}
	return i, err
}

// SetList makes a list of an upstream, which Put has added, what the upstream returned.
// It returns the items that it left out.
func (c *Catalogue) SetList(server string, l List, list []json.RawMessage) (left []LeftOut) {
	var items []item
	seen := make(map[string]bool)
	for n, raw := range list {
		if n == maxItems {
			left = append(left, LeftOut{"", fmt.Errorf("only the first %d of %d are offered", maxItems, len(list))})
			break
		}
		i, err := l.parseItem(raw)
		if err == nil && seen[listKinds[l].join(server, i.own)] {
			err = fmt.Errorf("another one has the same %s", l.identifier())
		}
		if err != nil {
			left = append(left, LeftOut{i.own, err})
			continue
		}
		seen[listKinds[l].join(server, i.own)] = true
		items = append(items, i)
	}
	c.mu.Lock()
	s := c.servers[server]
	changed := s != nil && !slices.EqualFunc(s.lists[l], items, func(a, b item) bool { return bytes.Equal(a.raw, b.raw) })
	if changed {
		s.lists[l] = items
	}
	c.mu.Unlock()
	if changed {
		c.Notify(l.Changed(), server, "")
	}
	return left
}

// Items returns the items of a list that a caller may use: those of the only upstream as
// they are or, if only is empty, those of all upstreams. Of two upstreams with the same
// resource, the one whose name comes first then has it.
func (c *Catalogue) Items(l List, only string, caller generators.Caller) []json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []json.RawMessage
	taken := make(map[string]bool)
	for _, s := range c.allowed(only, caller) {
		for _, i := range s.lists[l] {
			if only != "" {
				all = append(all, i.raw)
				continue
			}
			joined := listKinds[l].join(s.Name, i.own)
			if !taken[joined] {
				taken[joined] = true
				all = append(all, i.withIdentifier(l, s.Name, joined))
			}
		}
	}
	return all
}

// withIdentifier returns the item as part of the list of all upstreams.
func (i *item) withIdentifier(l List, server, joined string) json.RawMessage {
	return rawjson.MapMembers(i.raw, func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case l.identifier():
			return message.Compacted(joined)
		case "_meta":
			return message.MapUIAddresses(value, func(uri string) string { return JoinUI(server, uri) })
		}
		return value
	})
}

// allowed returns the upstreams that a caller may use, in the order of their names: all,
// or the only one. Callers hold mu.
func (c *Catalogue) allowed(only string, caller generators.Caller) []*served {
	var list []*served
	for _, s := range slices.SortedFunc(maps.Values(c.servers), func(a, b *served) int { return cmp.Compare(a.Name, b.Name) }) {
		if (only == "" || s.Name == only) && (s.Allow == nil || s.Allow(caller) == nil) {
			list = append(list, s)
		}
	}
	return list
}

// Allows reports whether there is an upstream of a name that a caller may use.
func (c *Catalogue) Allows(server string, caller generators.Caller) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.allowed(server, caller)) > 0 && server != ""
}

// Instructions returns what an upstream tells models of itself.
func (c *Catalogue) Instructions(server string) string {
	c.mu.Lock()
	s := c.servers[server]
	c.mu.Unlock()
	if s == nil || s.Source.Instructions == nil {
		return ""
	}
	return s.Source.Instructions()
}

// Watch calls f after every change that an upstream announces, with the method of the
// notification and, for a changed resource, its URI in the upstream, until the caller
// calls stop. Changes of tools are the registry's.
func (c *Catalogue) Watch(f func(method, server, uri string)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers[&f] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watchers, &f)
	}
}

// Notify calls the functions that watch.
func (c *Catalogue) Notify(method, server, uri string) {
	c.mu.Lock()
	watchers := slices.Collect(maps.Keys(c.watchers))
	c.mu.Unlock()
	for _, f := range watchers {
		(*f)(method, server, uri)
	}
}
