package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
)

// Check validates content against every rule of the form and returns it ready
// to be recorded: what is no field left out, whole numbers written as such.
// Missing content is an empty object. The error is a
// [*generators.InvalidError] with every violation, in the order of the fields.
//
// It says the same as validating against [Fields.Schema] (a fuzz test holds it
// to that), but needs no schema: forms are flat, asked often, and may have
// thousands of choices.
func (f Fields) Check(content json.RawMessage) (json.RawMessage, error) {
	if len(content) == 0 {
		content = json.RawMessage("{}")
	}
	if !json.Valid(content) || typeOf(content) != isObject {
		return nil, notObject(content)
	}
	values := make([]json.RawMessage, len(f))
	members(content, func(name string, value json.RawMessage) {
		if i := f.index(name); i >= 0 {
			values[i] = value
		}
	})
	c := checker{}
	out := append(make([]byte, 0, len(content)), '{')
	for i, raw := range values {
		field := &f[i]
		c.path = field.Name
		if raw == nil {
			if field.Required {
				c.say("is required")
			}
			continue
		}
		value := c.check(field, raw)
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendText(out, field.Name), ':')
		out = append(out, value...)
	}
	if len(c.errs) > 0 {
		return nil, &generators.InvalidError{Fields: c.errs}
	}
	return append(out, '}'), nil
}

func notObject(content json.RawMessage) error {
	var v any
	message := ""
	if err := json.Unmarshal(content, &v); err != nil {
		message = "must be one JSON value: " + err.Error()
	} else {
		message = "must be an object, not " + typeOf(content)
	}
	return &generators.InvalidError{Fields: []generators.FieldError{{Message: message}}}
}

// A checker collects what is wrong with the fields of one answer.
type checker struct {
	path string // the field's name
	errs []generators.FieldError
}

func (c *checker) say(format string, args ...any) {
	c.errs = append(c.errs, generators.At(c.path, fmt.Sprintf(format, args...)))
}

// check holds a value against its field and returns it as it is recorded.
func (c *checker) check(f *Field, raw json.RawMessage) json.RawMessage {
	got := typeOf(raw)
	switch f.Type {
	case "string":
		if got != isText {
			c.say("must be %s, not %s", isText, got)
			return nil
		}
		s, plain := decodeText(raw)
		c.text(f, s)
		if plain {
			return raw
		}
		return encode(s)
	case "number", "integer":
		if got == isNumber {
			return c.number(f, string(raw))
		}
		want := isNumber
		if f.Type == "integer" {
			want = "a whole number"
		}
		c.say("must be %s, not %s", want, got)
		return nil
	case "boolean":
		if got != isBool {
			c.say("must be %s, not %s", isBool, got)
		}
	case "array":
		if got != isList {
			c.say("must be %s, not %s", isList, got)
			return nil
		}
		c.list(f, raw)
	}
	return compact(raw)
}

func (c *checker) text(f *Field, s string) {
	if len(f.Choices) > 0 {
		if !f.offers(s) {
			c.say("%s", f.oneOf())
		}
		return
	}
	formatted := c.format(f.Format, s)
	n := utf8.RuneCountInString(s)
	switch {
	case n < f.MinLength && f.MinLength == 1:
		c.say("must not be empty")
	case n < f.MinLength:
		c.say("must be at least %d characters long; it has %d", f.MinLength, n)
	case f.MaxLength > 0 && n > f.MaxLength:
		c.say("must be at most %d characters long; it has %d", f.MaxLength, n)
	}
	c.pattern(f, s)
	if message := f.outOfBounds(s); formatted && message != "" {
		c.say("%s", message)
	}
}

// format holds a text against one of the formats that MCP knows.
func (c *checker) format(format, s string) bool {
	var layout string
	switch format {
	case "date":
		layout = time.DateOnly
	case "date-time":
		layout = time.RFC3339 // the schema's format has leap seconds, Go's time has not
	case "email", "uri":
	default:
		return true
	}
	if layout != "" {
		if _, err := time.Parse(layout, s); err != nil {
			c.say("%s", formatSentence(format))
			return false
		}
	}
	if formats()[format].Validate(encode(s)) != nil {
		c.say("%s", formatSentence(format))
		return false
	}
	return true
}

func (c *checker) pattern(f *Field, s string) {
	expr := f.pattern()
	if expr == "" {
		return
	}
	re, err := patterns.compile(expr)
	switch {
	case err != nil:
		c.say("can't be checked: %v", err)
	case re.MatchString(s):
	case expr == TimePattern:
		c.say("must be a time of day, such as 18:30")
	case f.PatternHint != "":
		c.say("%s", f.PatternHint)
	default:
		c.say("must match the pattern %s", expr)
	}
}

func (c *checker) list(f *Field, raw json.RawMessage) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		c.say("must be %s", isList)
		return
	}
	seen := make(map[string]bool, len(items))
	twice := false
	for i, item := range items {
		at := generators.FieldError{Path: generators.At(f.Name, "").Path + "/" + strconv.Itoa(i)}
		s := string(item)
		if got := typeOf(item); got != isText {
			at.Message = fmt.Sprintf("must be %s, not %s", isText, got)
		} else if s, _ = decodeText(item); !f.offers(s) {
			at.Message = f.oneOf()
		}
		if at.Message != "" && len(c.errs) < maxErrors {
			c.errs = append(c.errs, at)
		}
		twice = twice || seen[s]
		seen[s] = true
	}
	switch n := len(items); {
	case n < f.MinItems:
		c.say("must have at least %s; it has %d", items1(f.MinItems), n)
	case f.MaxItems > 0 && n > f.MaxItems:
		c.say("must have at most %s; it has %d", items1(f.MaxItems), n)
	}
	if twice {
		c.say("must not have the same item twice")
	}
}

// offers tells whether a value is among the choices.
func (f *Field) offers(value string) bool {
	return slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == value })
}

// How many choices an error lists, and how many errors a list of values gets.
const (
	maxNamed  = 20
	maxErrors = 100
)

func (f *Field) oneOf() string {
	var names []string
	for _, c := range f.Choices[:min(len(f.Choices), maxNamed)] {
		names = append(names, c.Value)
	}
	said := "must be one of " + strings.Join(names, ", ")
	if n := len(f.Choices); n > maxNamed {
		said += fmt.Sprintf(" … (%d in all)", n)
	}
	return said
}

// What the types of JSON are called.
const (
	isText   = "text"
	isNumber = "a number"
	isBool   = "true or false"
	isList   = "a list"
	isObject = "an object"
)

func typeOf(raw json.RawMessage) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '"':
		return isText
	case 't', 'f':
		return isBool
	case '[':
		return isList
	case '{':
		return isObject
	case 'n':
		return "null"
	}
	return isNumber
}

func items1(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

func formatSentence(format string) string {
	switch format {
	case "email":
		return "must be an e-mail address, such as ada@example.org"
	case "uri":
		return "must be a whole web address, such as https://example.org/page"
	case "date":
		return "must be a date, such as 2026-12-31"
	}
	return "must be a date and time with its zone, such as 2026-12-31T18:30:00Z"
}

// formats are the formats of MCP's forms, as schemas.
var formats = sync.OnceValue(func() map[string]*generators.Schema {
	schemas := make(map[string]*generators.Schema)
	for _, format := range []string{"email", "uri", "date", "date-time"} {
		s, err := generators.ParseSchema(fmt.Appendf(nil, `{"type":"string","format":%q}`, format))
		if err != nil {
			panic(err) // a constant
		}
		schemas[format] = s
	}
	return schemas
})

// patterns remembers compiled patterns: compiling costs more than matching.
var patterns patternCache

// maxPatterns is how many a patternCache holds before it is emptied.
const maxPatterns = 512

type patternCache struct {
	mu     sync.Mutex
	byExpr map[string]*regexp.Regexp
}

func (p *patternCache) compile(expr string) (*regexp.Regexp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if re, ok := p.byExpr[expr]; ok {
		return re, nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	if p.byExpr == nil || len(p.byExpr) >= maxPatterns {
		p.byExpr = make(map[string]*regexp.Regexp)
	}
	p.byExpr[expr] = re
	return re, nil
}

// encode is the JSON of a text.
func encode(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string has a JSON form
	}
	return raw
}

// appendText is encode for what needs no escaping, as a rule.
func appendText(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(to, encode(s)...)
		}
	}
	return append(append(append(to, '"'), s...), '"')
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
