package form

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
)

// The limits of a form. What exceeds them is edited as JSON.
const (
	maxParts       = 3000
	maxDepth       = 12   // of parts within each other
	maxRows        = 200  // of a list or map
	maxChoices     = 2000 // of a control
	maxChoicesEver = 20_000
	maxVariants    = 100
	maxSteps       = 200_000 // schemas and members looked at
)

// A Form makes forms for the values of a JSON Schema (draft 2020-12), which must be an
// object. It shows what it can as controls, and the rest as JSON. It doesn't validate:
// the schema does. It may be used by several goroutines.
type Form struct {
	schema *jsonschema.Schema
	note   string // what to say of the form as a whole
	asText bool   // the value is edited as JSON
}

// ForSchema returns the form of a schema, which must not be changed.
func ForSchema(s *jsonschema.Schema) *Form {
	if s == nil {
		s = &jsonschema.Schema{}
	}
	return &Form{schema: s}
}

// The limits of a schema that only a form is made of.
const (
	maxSchemaLen   = 256 << 10 // bytes
	maxSchemaDepth = 100
	maxSchemaParts = 20_000
)

// ForPhoton returns the form of a photon's arguments. If Beam can't check them by their
// schema, which is another server's, the form says so.
func ForPhoton(p *generators.Photon) *Form {
	own := p.Input().Document()
	raw := rawjson.Member(p.Options().Definition, "inputSchema")
	if raw == nil || len(own.Properties) > 0 || len(raw) < len(`{"type":"object","":{}}`) {
		return ForSchema(own)
	}
	depth, parts := rawjson.Measure(raw)
	schema := new(jsonschema.Schema)
	if len(raw) > maxSchemaLen || depth > maxSchemaDepth || parts > maxSchemaParts {
		return &Form{schema: own, asText: true, note: "The schema of this tool is too large or too deep for a form. Edit the arguments as JSON."}
	}
	if json.Unmarshal(raw, schema) != nil {
		return &Form{schema: own, asText: true, note: "The schema of this tool isn’t one that Beam can read. Edit the arguments as JSON."}
	}
	return &Form{schema: schema, note: "Beam can’t check the arguments by this tool’s schema. Its server does."}
}

// Defaults returns the form with the schema's defaults.
func (f *Form) Defaults() *Part { return f.build(input{mode: defaults}, nil) }

// Fill returns the form with a value, which must be JSON, and no defaults.
func (f *Form) Fill(value json.RawMessage) *Part {
	return f.build(input{mode: exactly, value: value}, nil)
}

// Read returns the form as an HTML form posts it, with all that was typed. A local date
// and time is in zone, or in UTC if zone is nil. A control of a part that consists of
// parts may hold its JSON.
func (f *Form) Read(values map[string][]string, zone *time.Location) *Part {
	return f.build(input{mode: posted, posted: values}, zone)
}

// Link returns the form with what a link's query fills in, and the defaults of the rest.
// Query parameters are named as controls are.
func (f *Form) Link(query map[string][]string) *Part {
	return f.build(input{mode: link, posted: query}, nil)
}

func (f *Form) build(in input, zone *time.Location) *Part {
	b := &builder{
		root: f.schema, zone: zone, references: map[string]*jsonschema.Schema{}, patterns: map[string]*regexp.Regexp{},
	}
	if f.asText {
		return asJSON(b.newPart(f.schema, place{required: true}), in, f.note)
	}
	p := b.part(f.schema, place{required: true}, in)
	if p.Note == "" {
		p.Note = f.note
	}
	if b.isFull() {
		return asJSON(b.newPart(f.schema, place{required: true}), in, "There are too many fields for a form. Edit the arguments as JSON.")
	}
	return p
}

// A mode is where the values of a form come from.
type mode int

const (
	defaults mode = iota // the schema
	exactly              // a JSON value; what is missing has no value
	posted               // an HTML form
	link                 // a link; what is missing has its default
)

// An input is what a part is filled in with.
type input struct {
	mode   mode
	posted map[string][]string
	value  json.RawMessage // nil if it is missing
}

// member returns the input of a member.
func (in input) member(name string) input {
	if in.mode == exactly {
		in.value = rawjson.Member(in.value, name)
	}
	return in
}

func (in input) isPosted() bool { return in.mode == posted || in.mode == link }

// last returns the last value posted for a name.
func (in input) last(name string) (string, bool) {
	values, ok := in.posted[name]
	if len(values) == 0 {
		return "", ok
	}
	return values[len(values)-1], ok
}

// forParts returns the input of a part that has parts. If its own name is posted, that is
// its JSON, or one text for each item of a list.
func (in input) forParts(p *Part, isList bool) input {
	values, ok := in.posted[p.Input]
	if _, chosen := in.posted[p.VariantInput()]; !in.isPosted() || !ok || chosen || p.Input == "" || len(values) == 0 {
		return in
	}
	if text := values[len(values)-1]; json.Valid([]byte(text)) && (len(values) == 1 || !isList) {
		return input{mode: exactly, value: json.RawMessage(text)}
	}
	if isList {
		return input{mode: exactly, value: mustMarshal(values)}
	}
	return input{mode: exactly, value: mustMarshal(values[len(values)-1])}
}

// asJSON makes a part JSON. The note says why; it may be empty.
func asJSON(p *Part, in input, note string) *Part {
	p.Kind, p.Note, p.Parts, p.Present, p.CanAdd = JSON, note, nil, false, false
	value := in.value
	if in.mode == defaults || in.mode == link {
		value = p.Default
	}
	switch text, ok := in.last(p.Input + jsonSuffix); {
	case in.isPosted() && ok:
		p.Values = []string{text}
		return p
	case in.isPosted():
		if text, ok := in.last(p.Input); ok && p.Input != "" {
			p.Values = []string{text}
			return p
		}
	}
	p.Values = nil
	if value != nil {
		p.Values = []string{Indent(value)}
	}
	return p
}
