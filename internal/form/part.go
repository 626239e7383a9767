package form

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/photon-beam/beam/internal/askdata"
)

// A Kind is a way in which a part of a form is filled in.
type Kind string

const (
	Control Kind = "control" // one control, which the part's Field describes
	Group   Kind = "group"   // the members of an object
	List    Kind = "list"    // rows, one for each item
	Map     Kind = "map"     // rows, one for each member, whose names are filled in too
	Choice  Kind = "choice"  // one of several variants
	JSON    Kind = "json"    // JSON text, for what a form can't represent
)

// A Part is a part of a form, filled in. The form as a whole is a Group, or JSON if no
// form can represent it. A flat form is a Group of Controls.
type Part struct {
	// Field describes a Control. Of the other kinds, it has the name, the title, the
	// description, and whether the part is required.
	askdata.Field
	Kind Kind
	// Input is the name of the part's control in the HTML form, and the beginning of
	// the names of its parts' controls.
	Input   string
	Pointer string // a JSON Pointer to the part's value
	// Values are what is filled in, as an HTML form posts it; of JSON, the text.
	Values []string
	// Parts are the members of a Group, the rows of a List or Map, and the chosen
	// variant of a Choice.
	Parts []*Part
	// Present means that the value is there although nothing is filled in: an empty
	// list, an object without members, an empty text, false, or null.
	Present bool
	// Row is true for an item of a List or a member of a Map; Fixed for an item that
	// can be neither moved nor removed.
	Row, Fixed bool
	CanAdd     bool     // a row can be added, or an optional group
	Variants   []string // the titles of a Choice's variants
	Variant    int      // the index of the chosen one, or -1
	Shared     []string // the inputs of the members that all variants of a Choice have
	// Note says why a part is JSON.
	Note string
	// Example is an example of the value.
	Example    string
	Rule       string // a rule of a Control beyond those of Field, in words
	Deprecated bool
	Encoded    bool // the value is a file's content in base64
	// Changes means that which parts there are depends on what is filled in.
	Changes bool

	nullable bool
	// jsonChoices means that the values of the choices are JSON.
	jsonChoices bool
	token       string // the member's name or the item's index
	itemTitle   string // of a List, what an item is called
	depth       int
	schema      *jsonschema.Schema // without references and null
	conditions  []condition
	builder     *builder
	zone        *time.Location // of a local time
	constant    bool
	friendly    bool // text that isn't JSON counts as text
}

// The names of the inputs that hold what isn't a value. A JSON Pointer has no ~ except
// in ~0 and ~1, so that they differ from all names of controls.
const (
	jsonSuffix    = "~json"    // JSON instead of a part's own controls
	presentSuffix = "~on"      // the part is Present
	rowsSuffix    = "~rows"    // the number of rows
	variantSuffix = "~variant" // the index of the chosen variant
	shownSuffix   = "~shown"   // a control is there that posts nothing if nothing is chosen
	othersSuffix  = "~others"  // an object's members without a property
	keySuffix     = "~k"       // followed by an index: the name of a Map's row
	valueSuffix   = "~v"       // followed by an index: the value of a Map's row
)

// The names of the inputs of a part, besides Input.
func (p *Part) PresentInput() string { return p.Input + presentSuffix }
func (p *Part) ShownInput() string   { return p.Input + shownSuffix }
func (p *Part) RowsInput() string    { return p.Input + rowsSuffix }
func (p *Part) VariantInput() string { return p.Input + variantSuffix }

// KeyInput returns the name of the control for the name of the nth row of a Map.
func (p *Part) KeyInput(n int) string { return p.Input + keySuffix + strconv.Itoa(n) }

var tokenEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// joinInput returns the name of the control of a part's member or item.
func joinInput(input, token string) string {
	token = tokenEscaper.Replace(token)
	if input == "" {
		return token
	}
	return input + "/" + token
}

func joinPointer(pointer, token string) string { return pointer + "/" + tokenEscaper.Replace(token) }

// FromFields returns a flat form. If values is nil, it has the fields' defaults.
func FromFields(fields askdata.Fields, values map[string][]string) *Part {
	root := &Part{Kind: Group, Parts: make([]*Part, len(fields))}
	for i, f := range fields {
		p := &Part{Field: f, Kind: Control, Input: f.Name, Pointer: joinPointer("", f.Name)}
		defaults := valuesOf(p, f.Default)
		switch posted := values[f.Name]; {
		case values == nil:
			p.Values = defaults
		case len(f.Choices) > 0 && f.Type != "array" && len(defaults) > 0 && strings.Join(posted, "") == "":
			p.Values = defaults // the person changes a default rather than chooses or not
		default:
			p.Values = posted
		}
		if f.Format == askdata.FormatSecret {
			p.Values = nil
		}
		root.Parts[i] = p
	}
	return root
}

// valuesOf returns a value as an HTML form posts it, or nil if it isn't of the part's
// type.
func valuesOf(p *Part, raw json.RawMessage) []string {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	if p.jsonChoices {
		return jsonChoiceOf(p, raw)
	}
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if p.Type != "" {
			return []string{v}
		}
	case bool:
		if p.Type == "boolean" {
			if v {
				return []string{"on"}
			}
			return nil
		}
	case []any:
		if p.Type == "array" {
			var list []string
			for _, e := range v {
				if s, ok := e.(string); ok {
					list = append(list, s)
				}
			}
			return list
		}
	}
	return []string{string(raw)}
}

// IsConstant reports whether a control has only one value.
func (p *Part) IsConstant() bool { return p.constant && p.Required }

// ItemTitle returns what a row is called.
func (p *Part) ItemTitle() string { return p.itemTitle }

// IsOthers reports whether the part holds the members of an object without a property.
func (p *Part) IsOthers() bool { return strings.HasSuffix(p.Input, othersSuffix) }

// CanRemove reports whether a part that isn't a row is there, and may be missing.
func (p *Part) CanRemove() bool {
	return p.Kind == Group && !p.Row && p.Present && p.Input != "" && (!p.Required || p.nullable)
}

// Find returns the part of that input, or nil.
func (p *Part) Find(input string) *Part {
	if p.Input == input && p.Kind != Choice { // a variant has the same input
		return p
	}
	for _, part := range p.Parts {
		if found := part.Find(input); found != nil {
			return found
		}
	}
	if p.Input == input {
		return p
	}
	return nil
}

// JSONInput returns the name of the control of a part that is JSON.
func (p *Part) JSONInput() string { return p.Input + jsonSuffix }
