package form

import (
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A builder makes the parts of one form, and counts what that takes.
type builder struct {
	root       *jsonschema.Schema
	zone       *time.Location
	references map[string]*jsonschema.Schema
	byAnchor   map[string]*jsonschema.Schema
	patterns   map[string]*regexp.Regexp

	parts, choices, steps int
}

const nullType = "null" // as rawjson.TypeName has it

// A place is where a part is in a form.
type place struct {
	name     string // what the part is called if it has no title
	title    string // of a row
	token    string
	input    string
	pointer  string
	required bool
	row      bool
	depth    int
}

// at returns the place of a member or item of p.
func (p *Part) at(token string) place {
	return place{
		name: token, token: token, input: joinInput(p.Input, token), pointer: joinPointer(p.Pointer, token), depth: p.depth + 1,
	}
}

func (b *builder) newPart(s *jsonschema.Schema, at place) *Part {
	p := &Part{Input: at.input, Pointer: at.pointer, Row: at.row, token: at.token, depth: at.depth, schema: s, builder: b, zone: b.zone, Variant: -1}
	p.Name, p.Required = at.name, at.required
	return p
}

// isFull reports whether the form has become too large, so that it will be JSON.
func (b *builder) isFull() bool { return b.parts > maxParts || b.choices > maxChoicesEver }

// part returns the part for the values of a schema.
func (b *builder) part(s *jsonschema.Schema, at place, in input) *Part {
	p := b.newPart(s, at)
	b.parts++
	r, conditions, err := b.resolve(s)
	if err != nil {
		annotate(p, s)
		return asJSON(p, in, "This part is edited as JSON, because "+err.Error()+".")
	}
	r, p.nullable = withoutNull(r)
	r, conditions = b.withoutNullAlternative(p, r, conditions)
	annotate(p, r)
	if at.title != "" {
		p.Title = at.title
	}
	switch _, overridden := in.posted[p.Input+jsonSuffix]; {
	case in.isPosted() && overridden:
		return asJSON(p, in, "")
	case at.depth > maxDepth:
		return asJSON(p, in, "This part is edited as JSON, because it is nested too deep for a form.")
	case b.isFull():
		return asJSON(p, in, "")
	}
	return b.fill(p, r, conditions, in)
}

// withoutNullAlternative returns the other schema of an anyOf of null and one other.
func (b *builder) withoutNullAlternative(p *Part, s *jsonschema.Schema, conditions []condition) (*jsonschema.Schema, []condition) {
	for range maxReferences {
		alternatives, null := withoutNullSchema(s)
		if !null || len(alternatives) != 1 {
			break
		}
		p.nullable = true
		base := *s
		base.OneOf, base.AnyOf = nil, nil
		only, more, err := b.resolve(alternatives[0])
		if err == nil {
			only, err = b.merge(&base, only, maxReferences)
		}
		if err != nil {
			break
		}
		s, conditions = only, append(conditions, more...)
	}
	return s, conditions
}

// annotate sets what a schema says about a part besides its rules.
func annotate(p *Part, s *jsonschema.Schema) {
	if s == nil {
		return
	}
	p.Title, p.Description, p.Default, p.Deprecated = cleantext.Line(s.Title), cleantext.Text(s.Description), s.Default, s.Deprecated
	if name := cleantext.Name(p.Name); p.Title == "" && name != p.Name {
		p.Title = name
	}
	if len(s.Examples) > 0 {
		if text, ok := s.Examples[0].(string); ok {
			p.Example = text
		} else if raw, err := json.Marshal(s.Examples[0]); err == nil {
			p.Example = string(raw)
		}
		if len(p.Example) > 100 {
			p.Example = ""
		}
	}
}

// withoutNull returns a schema without the type null, and whether it had it.
func withoutNull(s *jsonschema.Schema) (*jsonschema.Schema, bool) {
	if len(s.Types) < 2 || !slices.Contains(s.Types, "null") {
		return s, false
	}
	c := *s
	setTypes(&c, slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }))
	if s.Enum != nil {
		c.Enum = slices.DeleteFunc(slices.Clone(s.Enum), func(v any) bool { return v == nil })
	}
	return &c, true
}

// withoutNullSchema returns a schema's alternatives without null, and whether it was one.
func withoutNullSchema(s *jsonschema.Schema) (alternatives []*jsonschema.Schema, null bool) {
	all := slices.Concat(s.OneOf, s.AnyOf)
	alternatives = slices.DeleteFunc(all, func(s *jsonschema.Schema) bool {
		return s != nil && s.Type == "null"
	})
	return alternatives, len(alternatives) < len(s.OneOf)+len(s.AnyOf)
}

// fill makes p the part for a schema without references and null.
func (b *builder) fill(p *Part, s *jsonschema.Schema, conditions []condition, in input) *Part {
	if b.isControl(p, s) {
		return b.control(p, s, in)
	}
	p.schema, p.conditions = s, conditions
	t := kindOfType(s)
	in = in.forParts(p, t == "array")
	if in.isPosted() && p.Input != "" && !p.isNamed(in) { // it wasn't shown
		in = input{mode: defaults}
	}
	if in.mode == defaults && s.Default != nil && rawjson.TypeName(s.Default) != nullType {
		in = input{mode: exactly, value: s.Default}
	}
	if in.mode == exactly && p.nullable && rawjson.TypeName(in.value) == nullType {
		in.value = nil
	}
	if variants := b.variantsOf(s); len(variants) > 0 {
		return b.choice(p, s, variants, in)
	}
	switch {
	case t == "array":
		return b.list(p, s, in)
	case t == "object" && len(s.Properties) == 0 && len(conditions) == 0 && p.Input != "":
		if !hasOthers(s) {
			return asJSON(p, in, "")
		}
		return b.mapRows(p, s, in)
	case t == "object" || p.Input == "":
		return b.group(p, s, conditions, in)
	}
	return asJSON(p, in, "")
}

// kindOfType returns the type of a schema's values, which may follow from its keywords.
func kindOfType(s *jsonschema.Schema) string {
	switch {
	case s.Type != "":
		return s.Type
	case len(s.Types) > 0:
		return ""
	case s.Properties != nil || s.PatternProperties != nil || s.AdditionalProperties != nil:
		return "object"
	case s.Items != nil || len(s.PrefixItems) > 0:
		return "array"
	}
	return ""
}

// hasOthers reports whether an object says that it has members without a property.
func hasOthers(s *jsonschema.Schema) bool {
	return len(s.PatternProperties) > 0 || s.AdditionalProperties != nil && !isFalse(s.AdditionalProperties) && !isEmpty(s.AdditionalProperties)
}
