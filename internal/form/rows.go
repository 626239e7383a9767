package form

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/internal/rawjson"
)

// list makes p the items of a list.
func (b *builder) list(p *Part, s *jsonschema.Schema, in input) *Part {
	p.Kind = List
	var items []json.RawMessage
	if in.mode == exactly && in.value != nil && json.Unmarshal(in.value, &items) != nil {
		return asJSON(p, in, "The value isn’t a list, so it is edited as JSON.")
	}
	first, rest := itemsOf(s)
	there, n := p.countItems(s, in, len(items))
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
		from := in
		if from.value = nil; i < len(items) {
			from.value = items[i]
		}
		p.Parts = append(p.Parts, b.item(p, i, first, rest, from))
	}
	p.CanAdd = n < maxRows && (n < len(first) || !isFalse(rest)) && (rest != nil || len(first) == 0) && (s.MaxItems == nil || n < *s.MaxItems)
	return p
}

// itemsOf returns the schemas of a list's first items, and that of the rest.
func itemsOf(s *jsonschema.Schema) (first []*jsonschema.Schema, rest *jsonschema.Schema) {
	if s.ItemsArray != nil { // as before 2020-12
		return s.ItemsArray, s.AdditionalItems
	}
	return s.PrefixItems, s.Items
}

// countItems returns how many items a list has, and whether it is there at all.
func (p *Part) countItems(s *jsonschema.Schema, in input, given int) (there bool, n int) {
	there, n = p.isThere(in), given
	switch {
	case in.isPosted():
		text, _ := in.last(p.RowsInput())
		n, _ = strconv.Atoi(text)
		n = max(n, 0)
		there = p.Required && !p.nullable || n > 0 || in.posted[p.PresentInput()] != nil
	case in.mode == defaults && s.MinItems != nil && there:
		n = min(max(*s.MinItems, 0), 10)
	}
	return there, n
}

// item returns the row of an item.
func (b *builder) item(p *Part, i int, first []*jsonschema.Schema, rest *jsonschema.Schema, in input) *Part {
	if i >= len(first) {
		return b.part(rest, p.rowPlace(i), in)
	}
	row := b.part(first[i], p.rowPlace(i), in)
	if row.Fixed = true; first[i] != nil && first[i].Title != "" {
		row.Title = first[i].Title
	}
	return row
}

func (p *Part) rowPlace(i int) place {
	at := p.at(strconv.Itoa(i))
	at.title = strings.TrimSpace(p.itemTitle + " " + strconv.Itoa(i+1))
	at.required, at.row = true, true
	return at
}

// mapRows makes p the members of an object whose names are filled in.
func (b *builder) mapRows(p *Part, s *jsonschema.Schema, in input) *Part {
	p.Kind = Map
	if !in.isPosted() && in.value != nil && rawjson.TypeName(in.value) != rawjson.ObjectType {
		return asJSON(p, in, "The value isn’t an object, so it is edited as JSON.")
	}
	names, values := p.namedValues(in)
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
	invites := hasOthers(s) || s.AdditionalProperties != nil && !isFalse(s.AdditionalProperties)
	p.CanAdd = invites && len(names) < maxRows && (s.MaxProperties == nil || len(names) < *s.MaxProperties)
	return p
}

// namedValues returns the names and values of the rows of a Map; values are nil if they
// are posted. There may be one row more than maxRows.
func (p *Part) namedValues(in input) (names []string, values []json.RawMessage) {
	if in.isPosted() {
		text, _ := in.last(p.RowsInput())
		n, _ := strconv.Atoi(text)
		for i := range min(max(n, 0), maxRows+1) {
			name, _ := in.last(p.KeyInput(i))
			names = append(names, name)
		}
		return names, make([]json.RawMessage, len(names))
	}
	if in.value != nil {
		rawjson.EachMember(in.value, func(name []byte, value json.RawMessage) {
			names, values = append(names, string(name)), append(values, value)
		})
	}
	return names, values
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
