package form

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
)

// isControl reports whether one control can hold the values of a schema, and describes
// that in p.
func (b *builder) isControl(p *Part, s *jsonschema.Schema) bool {
	if s.Const != nil {
		p.constant = true
		return b.setChoices(p, []any{*s.Const}, nil)
	}
	if s.Enum != nil && len(s.Enum) <= maxChoices {
		names, _ := s.Extra["enumNames"].([]any)
		return b.setChoices(p, s.Enum, names)
	}
	if values, titles := constants(slices.Concat(s.OneOf, s.AnyOf)); len(values) > 0 && len(values) <= maxChoices {
		return b.setChoices(p, values, titles)
	}
	switch kindOfType(s) {
	case "string":
		return len(s.OneOf)+len(s.AnyOf) == 0 && describeText(p, s)
	case "number", "integer":
		return len(s.OneOf)+len(s.AnyOf) == 0 && describeNumber(p, s)
	case "boolean":
		p.Type = "boolean"
		return true
	case "array":
		return b.describeChoiceList(p, s)
	}
	p.friendly = len(s.Types) == 0 && s.Type == "" && len(s.OneOf)+len(s.AnyOf) == 0 && kindOfType(s) == "" && p.Input != ""
	return p.friendly
}

// setChoices makes p a choice of values. Titles may be nil.
func (b *builder) setChoices(p *Part, values []any, titles []any) bool {
	p.Type = "string"
	for _, v := range values {
		if _, ok := v.(string); !ok {
			p.jsonChoices = true
		}
	}
	b.choices += len(values)
	seen := make(map[string]bool, len(values))
	for i, v := range values {
		c := askdata.Choice{}
		text, isText := v.(string)
		if c.Value = text; p.jsonChoices {
			raw, err := json.Marshal(v)
			if err != nil {
				return false
			}
			if c.Value = string(raw); isText {
				c.Title = text
			}
		}
		if len(titles) == len(values) {
			if title, _ := titles[i].(string); title != "" {
				c.Title = title
			}
		}
		if label := cleantext.Name(c.Label()); label != c.Label() {
			c.Title = label
		}
		if !seen[c.Value] {
			seen[c.Value] = true
			p.Choices = append(p.Choices, c)
		}
	}
	return len(p.Choices) > 0
}

// constants returns the values and titles of alternatives each of which is a constant.
func constants(alternatives []*jsonschema.Schema) (values, titles []any) {
	for _, s := range alternatives {
		switch {
		case s != nil && s.Const != nil:
			values = append(values, *s.Const)
		case s != nil && len(s.Enum) == 1:
			values = append(values, s.Enum[0])
		default:
			return nil, nil
		}
		titles = append(titles, s.Title)
	}
	return values, titles
}

// textControls are the names of fields that usually hold several lines.
var longNames = regexp.MustCompile(`(?i)(text|content|body|markdown|prompt|query|code|script|message)$`)

func describeText(p *Part, s *jsonschema.Schema) bool {
	p.Type, p.Pattern = "string", s.Pattern
	p.MinLength, p.MaxLength = orZero(s.MinLength), orZero(s.MaxLength)
	switch {
	case p.Pattern == askdata.TimePattern:
		p.Format = askdata.FormatTime
	case s.ContentEncoding == "base64":
		p.Encoded, p.Format, p.Rule = true, askdata.FormatLong, "the content of a file, in base64"
	case s.ContentEncoding != "":
		p.Rule = "encoded as " + s.ContentEncoding
	case s.ContentMediaType != "":
		p.Format = askdata.FormatLong
	case s.Format == "email", s.Format == "uri", s.Format == "date", s.Format == "date-time", s.Format == askdata.FormatSecret:
		p.Format = s.Format
	case s.Format != "":
		p.Rule = "in the format " + s.Format
	case s.MaxLength == nil && s.Pattern == "" && longNames.MatchString(p.token):
		p.Format = askdata.FormatLong
	}
	return true
}

func describeNumber(p *Part, s *jsonschema.Schema) bool {
	p.Type = kindOfType(s)
	p.Minimum, p.Maximum, p.Step = s.Minimum, s.Maximum, s.MultipleOf
	var rules []string
	if least := s.ExclusiveMinimum; least != nil {
		if next := math.Floor(*least) + 1; p.Type == "integer" && math.Abs(next) < 1<<53 {
			p.Minimum = stricter(p.Minimum, &next, 1)
		} else {
			rules = append(rules, "more than "+humanize.Number(*least))
		}
	}
	if most := s.ExclusiveMaximum; most != nil {
		if previous := math.Ceil(*most) - 1; p.Type == "integer" && math.Abs(previous) < 1<<53 {
			p.Maximum = stricter(p.Maximum, &previous, -1)
		} else {
			rules = append(rules, "less than "+humanize.Number(*most))
		}
	}
	p.Rule = strings.Join(rules, ", ")
	return true
}

// describeChoiceList makes p a list of different choices, if the schema is one.
func (b *builder) describeChoiceList(p *Part, s *jsonschema.Schema) bool {
	if s.Items == nil || len(s.PrefixItems) > 0 || s.Contains != nil {
		return false
	}
	item, _, err := b.resolve(s.Items)
	if err != nil {
		return false
	}
	values := item.Enum
	var titles []any
	if values == nil {
		values, titles = constants(slices.Concat(item.AnyOf, item.OneOf))
	}
	if len(values) == 0 || len(values) > maxChoices || !b.setChoices(p, values, titles) || p.jsonChoices {
		p.Choices, p.jsonChoices, p.Type = nil, false, ""
		return false
	}
	p.Type, p.MinItems, p.MaxItems = "array", orZero(s.MinItems), orZero(s.MaxItems)
	return true
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// control fills in a control.
func (b *builder) control(p *Part, s *jsonschema.Schema, in input) *Part {
	p.Kind, p.Default = Control, s.Default
	if p.IsConstant() && (in.mode != exactly || in.value == nil) {
		p.Values = []string{p.Choices[0].Value}
		return p
	}
	switch in.mode {
	case posted:
		values, ok := in.posted[p.Input]
		if _, shown := in.posted[p.ShownInput()]; !ok && !shown { // it wasn't shown
			values = valuesOf(p, p.Default)
		}
		p.Values = values
		p.Present = in.posted[p.PresentInput()] != nil
	case link:
		values, ok := in.posted[p.Input]
		if p.Values = linkValues(p, values); !ok {
			p.Values = valuesOf(p, p.Default)
		}
	case defaults:
		p.Values = valuesOf(p, p.Default)
	case exactly:
		return b.controlWith(p, in)
	}
	p.showLines()
	return p
}

// showLines makes a text's control have several lines if the text has.
func (p *Part) showLines() {
	if p.Type == "string" && p.Format == "" && len(p.Choices) == 0 && slices.ContainsFunc(p.Values, func(v string) bool { return strings.ContainsAny(v, "\r\n") }) {
		p.Format = askdata.FormatLong
	}
}

// controlWith fills in a value, or makes the part JSON if the control can't hold it.
func (b *builder) controlWith(p *Part, in input) *Part {
	raw := in.value
	p.Values = nil
	switch {
	case raw == nil:
	case rawjson.TypeName(raw) == nullType && !p.friendly && !p.jsonChoices:
		if p.Present = p.nullable; !p.nullable {
			return asJSON(p, in, "The value is null.")
		}
	case !p.holds(raw):
		return asJSON(p, in, "The value isn’t of the kind that the field is for.")
	default:
		if p.Values = valuesOf(p, raw); p.friendly && p.Values == nil {
			p.Values = []string{nullType}
		}
		p.Present = p.Type == "boolean" || p.Type == "array" && len(p.Values) == 0 || len(p.Values) == 1 && p.Values[0] == ""
		p.showLines()
	}
	return p
}

// holds reports whether the control can hold a value that isn't null.
func (p *Part) holds(raw json.RawMessage) bool {
	isChoice := func(text string) bool {
		return slices.ContainsFunc(p.Choices, func(c askdata.Choice) bool { return c.Value == text })
	}
	switch t := rawjson.TypeName(raw); {
	case p.jsonChoices:
		return jsonChoiceOf(p, raw) != nil
	case p.Type == "string":
		text, _ := rawjson.DecodeText(raw)
		return t == rawjson.TextType && (len(p.Choices) == 0 || isChoice(text))
	case p.Type == "boolean":
		return t == rawjson.BoolType
	case p.Type == "number", p.Type == "integer":
		return t == rawjson.NumberType
	case p.Type == "array":
		var list []string
		return json.Unmarshal(raw, &list) == nil && !slices.ContainsFunc(list, func(v string) bool { return !isChoice(v) })
	}
	return true
}

// jsonChoiceOf returns the choice of a JSON value, if it is one.
func jsonChoiceOf(p *Part, raw json.RawMessage) []string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	text := string(mustMarshal(v))
	for _, c := range p.Choices {
		if c.Value == text {
			return []string{text}
		}
	}
	return nil
}

// linkValues converts a link's values to those of a form: a list may be JSON. Times in
// RFC 3339 are kept: the page converts them to the browser's time zone.
func linkValues(p *Part, values []string) []string {
	var list []string
	if len(values) == 1 && p.Type == "array" && json.Unmarshal([]byte(values[0]), &list) == nil {
		return list
	}
	return values
}
