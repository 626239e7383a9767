package form

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/internal/rawjson"
)

// isThere reports whether an object or list that may be missing has a value.
func (p *Part) isThere(in input) bool {
	if (p.Required || p.Row) && !p.nullable {
		return true
	}
	switch in.mode {
	case exactly:
		return in.value != nil
	case defaults:
		return false
	}
	return p.isNamed(in)
}

// isNamed reports whether the names of what is posted include one of the part's.
func (p *Part) isNamed(in input) bool {
	for name := range in.posted {
		if rest, ok := strings.CutPrefix(name, p.Input); ok && (p.Input == "" || rest != "" && (rest[0] == '/' || rest[0] == '~')) {
			return true
		}
	}
	return false
}

// group makes p the members of an object.
func (b *builder) group(p *Part, s *jsonschema.Schema, conditions []condition, in input) *Part {
	p.Kind = Group
	if in.mode == exactly && in.value != nil && rawjson.TypeName(in.value) != rawjson.ObjectType {
		return asJSON(p, in, "The value isn’t an object, so it is edited as JSON.")
	}
	if p.Present = p.isThere(in); !p.Present {
		p.CanAdd = true
		return p
	}
	b.addMembers(p, s, in)
	if len(conditions) == 0 || b.isFull() {
		return p
	}
	p.Changes = true
	if applied := b.apply(conditions, s, p.value()); applied != s {
		b.addMembers(p, applied, in)
	}
	return p
}

// apply merges a schema with what its conditions say of a value.
func (b *builder) apply(conditions []condition, s *jsonschema.Schema, raw json.RawMessage) *jsonschema.Schema {
	var value any
	_ = json.Unmarshal(raw, &value)
	for _, c := range conditions {
		chosen := c.otherwise
		if b.fits(c.when, value, maxReferences) {
			chosen = c.then
		}
		if chosen == nil {
			continue
		}
		r, _, err := b.resolve(chosen)
		if err == nil {
			r, err = b.merge(s, r, maxReferences)
		}
		if err == nil {
			s = r
		}
	}
	return s
}

// addMembers makes the parts of a group.
func (b *builder) addMembers(p *Part, s *jsonschema.Schema, in input) {
	names := propertyNames(s)
	p.Parts = make([]*Part, 0, len(names))
	for _, name := range names {
		property := s.Properties[name]
		from := in.member(name)
		required := slices.Contains(s.Required, name)
		if isFalse(property) {
			continue
		}
		if property != nil && property.ReadOnly && !required && from.value == nil && !(in.isPosted() && in.posted[joinInput(p.Input, name)] != nil) {
			continue
		}
		if b.isFull() {
			return
		}
		at := p.at(name)
		at.required = required
		p.Parts = append(p.Parts, b.part(property, at, from))
	}
	if others := b.others(p, s, in); others != nil {
		p.Parts = append(p.Parts, others)
	}
}

// others returns the rows of an object's members without a property, or nil if it has
// none and says nothing about them.
func (b *builder) others(p *Part, s *jsonschema.Schema, in input) *Part {
	at := place{name: "Other fields", input: p.Input + othersSuffix, pointer: p.Pointer, depth: p.depth}
	o := b.newPart(s, at)
	if in.mode == exactly {
		in.value = withoutMembers(in.value, s.Properties)
	}
	if o = b.mapRows(o, s, in); o.Kind == Map && len(o.Parts) == 0 && !o.CanAdd {
		return nil
	}
	o.Title, o.Description = "", ""
	return o
}

// withoutMembers returns an object without the members that are properties.
func withoutMembers(value json.RawMessage, properties map[string]*jsonschema.Schema) json.RawMessage {
	out := []byte{'{'}
	rawjson.EachMember(value, func(name []byte, v json.RawMessage) {
		if _, ok := properties[string(name)]; !ok {
			out = appendMember(out, string(name), v)
		}
	})
	return append(out, '}')
}
