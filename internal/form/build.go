package form

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

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
	for range maxReferences { // an anyOf of null and one other schema is that schema
		alternatives, null := withoutNullSchema(r)
		if !null || len(alternatives) != 1 {
			break
		}
		p.nullable = true
		base := *r
		base.OneOf, base.AnyOf = nil, nil
		only, more, err := b.resolve(alternatives[0])
		if err == nil {
			r, err = b.merge(&base, only, maxReferences)
		}
		if err != nil {
			break
		}
		conditions = append(conditions, more...)
	}
	annotate(p, r)
	if at.title != "" {
		p.Title = at.title
	}
	switch _, overridden := in.posted[p.Input+jsonSuffix]; {
	case in.isPosted() && overridden:
		return asJSON(p, in, "")
	case at.depth > maxDepth:
		return asJSON(p, in, "This part is edited as JSON, because it is nested too deep for a form.")
	case b.parts > maxParts:
		return asJSON(p, in, "")
	}
	return b.fill(p, r, conditions, in)
}

// annotate sets what a schema says about a part besides its rules.
func annotate(p *Part, s *jsonschema.Schema) {
	if s == nil {
		return
	}
	p.Title, p.Description, p.Default, p.Deprecated = s.Title, s.Description, s.Default, s.Deprecated
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
	if len(conditions) == 0 {
		return p
	}
	p.Changes = true
	var value any
	_ = json.Unmarshal(p.value(), &value)
	applied := s
	for _, c := range conditions {
		chosen := c.otherwise
		if b.fits(c.when, value, maxReferences) {
			chosen = c.then
		}
		r, _, err := b.resolve(chosen)
		if err == nil && chosen != nil {
			r, err = b.merge(applied, r, maxReferences)
		}
		if err == nil && chosen != nil {
			applied = r
		}
	}
	if applied != s {
		b.addMembers(p, applied, in)
	}
	return p
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
		if b.parts > maxParts {
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

// list makes p the items of a list.
func (b *builder) list(p *Part, s *jsonschema.Schema, in input) *Part {
	p.Kind = List
	first, rest := s.PrefixItems, s.Items
	if s.ItemsArray != nil {
		first, rest = s.ItemsArray, s.AdditionalItems
	}
	var items []json.RawMessage
	if in.mode == exactly && in.value != nil && json.Unmarshal(in.value, &items) != nil {
		return asJSON(p, in, "The value isn’t a list, so it is edited as JSON.")
	}
	there := p.isThere(in)
	n := len(items)
	switch {
	case in.isPosted():
		text, _ := in.last(p.RowsInput())
		n, _ = strconv.Atoi(text)
		n = max(n, 0)
		there = p.Required && !p.nullable || n > 0 || in.posted[p.PresentInput()] != nil
	case in.mode == defaults && s.MinItems != nil && there:
		n = min(max(*s.MinItems, 0), 10)
	}
	if len(first) > 0 && there {
		n = max(n, len(first))
	}
	if n > maxRows {
		return asJSON(p, in, "The list has too many items for a form, so it is edited as JSON.")
	}
	p.itemTitle = singular(p.Label())
	if rest != nil && rest.Title != "" {
		p.itemTitle = rest.Title
	}
	p.Present = there && (in.mode == exactly || in.isPosted() && in.posted[p.PresentInput()] != nil)
	for i := range n {
		schema := rest
		if i < len(first) {
			schema = first[i]
		}
		from := in
		if from.value = nil; i < len(items) {
			from.value = items[i]
		}
		row := b.part(schema, p.rowPlace(i), from)
		row.Fixed = i < len(first)
		if row.Fixed && schema != nil && schema.Title != "" {
			row.Title = schema.Title
		}
		p.Parts = append(p.Parts, row)
	}
	p.CanAdd = n < maxRows && (n < len(first) || !isFalse(rest)) && (rest != nil || len(first) == 0) && (s.MaxItems == nil || n < *s.MaxItems)
	return p
}

func (p *Part) rowPlace(i int) place {
	at := p.at(strconv.Itoa(i))
	at.title = strings.TrimSpace(p.itemTitle + " " + strconv.Itoa(i+1))
	at.required, at.row = true, true
	return at
}

// mapRows makes p the members of an object whose names are filled in.
func (b *builder) mapRows(p *Part, s *jsonschema.Schema, in input) *Part {
	p.Kind, p.CanAdd = Map, hasOthers(s) || s.AdditionalProperties != nil && !isFalse(s.AdditionalProperties)
	var names []string
	var values []json.RawMessage
	switch {
	case in.isPosted():
		text, _ := in.last(p.RowsInput())
		n, _ := strconv.Atoi(text)
		if n > maxRows {
			return asJSON(p, in, "There are too many fields for a form, so they are edited as JSON.")
		}
		for i := range max(n, 0) {
			name, _ := in.last(p.KeyInput(i))
			names, values = append(names, name), append(values, nil)
		}
	case in.value != nil && rawjson.TypeName(in.value) != rawjson.ObjectType:
		return asJSON(p, in, "The value isn’t an object, so it is edited as JSON.")
	case in.value != nil:
		rawjson.EachMember(in.value, func(name []byte, value json.RawMessage) {
			names, values = append(names, string(name)), append(values, value)
		})
	}
	if len(names) > maxRows {
		return asJSON(p, in, "There are too many fields for a form, so they are edited as JSON.")
	}
	p.itemTitle = singular(p.Label())
	p.Present = in.mode == exactly && in.value != nil || in.isPosted() && in.posted[p.PresentInput()] != nil
	for i, name := range names {
		from := in
		from.value = values[i]
		p.Parts = append(p.Parts, b.part(b.schemaOfMember(s, name), p.mapPlace(i, name), from))
	}
	p.CanAdd = p.CanAdd && len(names) < maxRows && (s.MaxProperties == nil || len(names) < *s.MaxProperties)
	return p
}

func (p *Part) mapPlace(i int, name string) place {
	return place{
		name: name, token: name, input: p.Input + valueSuffix + strconv.Itoa(i), pointer: joinPointer(p.Pointer, name),
		required: true, row: true, depth: p.depth + 1,
	}
}

// schemaOfMember returns the schema of an object's member without a property. A member
// without a name gets that of the first pattern.
func (b *builder) schemaOfMember(s *jsonschema.Schema, name string) *jsonschema.Schema {
	for _, pattern := range sortedNames(s.PatternProperties) {
		if name == "" || b.matches(pattern, name) {
			return s.PatternProperties[pattern]
		}
	}
	if isFalse(s.AdditionalProperties) {
		return nil
	}
	return s.AdditionalProperties
}

// singular guesses the singular of an English noun.
func singular(noun string) string {
	lower := strings.ToLower(noun)
	for _, ending := range [][2]string{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""}} {
		if strings.HasSuffix(lower, ending[0]) && len(noun) > len(ending[0])+1 {
			return noun[:len(noun)-len(ending[0])] + ending[1]
		}
	}
	return cmp.Or(noun, "Item")
}
