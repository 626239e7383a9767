package generators

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/photon-beam/beam/internal/humanize"
)

// A FieldError describes what is wrong with one part of a value.
type FieldError struct {
	// Path is a JSON Pointer (RFC 6901) to the part; empty for the whole value.
	Path string `json:"path"`
	// Message is what to say of the field, without naming it, as in "must be at
	// least 2 characters long". [FieldError.Sentence] makes it a sentence.
	Message string `json:"message"`
}

// Field returns the name of the top-level property that the error is about.
func (e FieldError) Field() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(e.Path, "/"), "/")
	return pointerUnescaper.Replace(name)
}

// Sentence returns the error as a sentence that calls the field label: "Name is
// required." Without a label, it names the path.
func (e FieldError) Sentence(label string) string {
	switch {
	case label != "":
	case e.Path != "":
		label = e.Path
	default:
		label = "The value"
	}
	if !startsWithVerb(e.Message) {
		label += ":"
	}
	return label + " " + strings.TrimSuffix(e.Message, ".") + "."
}

// startsWithVerb reports whether a message follows its subject, as most do.
func startsWithVerb(message string) bool {
	first, _, _ := strings.Cut(message, " ")
	switch first {
	case "is", "must", "has", "can't":
		return true
	}
	return false
}

// At returns a FieldError for a top-level property.
func At(field, message string) FieldError {
	return FieldError{Path: "/" + pointerEscaper.Replace(field), Message: message}
}

// An InvalidError reports that a value doesn't conform to its schema.
type InvalidError struct {
	Fields []FieldError `json:"fields"`
}

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lines[i] = strings.TrimSpace(f.Path + " " + f.Message)
	}
	return strings.Join(lines, "; ")
}

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// TimePattern is the pattern for a time of day, HH:MM, in a schema: JSON Schema's
// own format "time" requires seconds and a zone.
const TimePattern = `^([01]\d|2[0-3]):[0-5]\d$`

// maxViolations bounds the field errors of an InvalidError.
const maxViolations = 100

// newInvalidError converts the validator's tree of errors to an [*InvalidError]. It
// returns any other error unchanged.
func newInvalidError(err error) error {
	var root *validator.ValidationError
	if !errors.As(err, &root) {
		return err
	}
	var fields []FieldError
	collectFieldErrors(root, &fields)
	slices.SortStableFunc(fields, func(a, b FieldError) int { return strings.Compare(a.Path, b.Path) })
	fields = slices.Compact(fields)
	return &InvalidError{Fields: fields[:min(len(fields), maxViolations)]}
}

func collectFieldErrors(e *validator.ValidationError, to *[]FieldError) {
	path := jsonPointer(e.InstanceLocation)
	add := func(path, message string) { *to = append(*to, FieldError{path, message}) }
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			add(path+"/"+pointerEscaper.Replace(name), "is required")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(path+"/"+pointerEscaper.Replace(name), "is not a known field")
		}
	case *kind.OneOf, *kind.AnyOf:
		if values, ok := constChoices(e); ok {
			add(path, oneOfMessage(values))
			return
		}
		if value := causeIfNotNull(e); value != nil {
			collectFieldErrors(value, to)
			return
		}
		if meant := meantAlternative(e); meant != nil {
			collectFieldErrors(meant, to)
			return
		}
		add(path, "must match one of the alternatives in the schema")
	default:
		if len(e.Causes) == 0 {
			add(path, describeViolation(e.ErrorKind))
		}
		for _, cause := range e.Causes {
			collectFieldErrors(cause, to)
		}
	}
}

// causeIfNotNull returns why a value that isn't null violates an anyOf of null and one
// other alternative; nil for any other anyOf or oneOf.
func causeIfNotNull(e *validator.ValidationError) *validator.ValidationError {
	var others []*validator.ValidationError
	for _, cause := range e.Causes {
		if k, ok := cause.ErrorKind.(*kind.Type); !ok || !slices.Equal(k.Want, []string{"null"}) {
			others = append(others, cause)
		}
	}
	if len(e.Causes) != 2 || len(others) != 1 {
		return nil
	}
	return others[0]
}

// meantAlternative returns why a value violates the only alternative of a oneOf or anyOf
// that has its type and the constants of its members; nil if there are none or several.
func meantAlternative(e *validator.ValidationError) *validator.ValidationError {
	var meant *validator.ValidationError
	for _, cause := range e.Causes {
		if isForOtherValues(cause, len(e.InstanceLocation)) {
			continue
		}
		if meant != nil {
			return nil
		}
		meant = cause
	}
	return meant
}

// isForOtherValues reports whether an alternative was violated by the type of the value,
// which is that deep, or by a member that must be one constant.
func isForOtherValues(e *validator.ValidationError, depth int) bool {
	switch k := e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		return false
	case *kind.Type:
		return len(e.InstanceLocation) == depth
	case *kind.Const:
		return len(e.InstanceLocation) <= depth+1
	case *kind.Enum:
		return len(e.InstanceLocation) <= depth+1 && len(k.Want) == 1
	}
	return slices.ContainsFunc(e.Causes, func(cause *validator.ValidationError) bool { return isForOtherValues(cause, depth) })
}

// constChoices returns the constants of a oneOf or anyOf. It reports false if an
// alternative isn't a constant.
func constChoices(e *validator.ValidationError) ([]string, bool) {
	var values []string
	for _, cause := range e.Causes {
		if c, ok := cause.ErrorKind.(*kind.Const); ok {
			values = append(values, formatValue(c.Want))
			continue
		}
		for _, leaf := range cause.Causes {
			c, ok := leaf.ErrorKind.(*kind.Const)
			if !ok {
				return nil, false
			}
			values = append(values, formatValue(c.Want))
		}
	}
	return values, len(values) > 0
}

func jsonPointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + pointerEscaper.Replace(t))
	}
	return b.String()
}

// describeViolation returns the message for a violated rule.
func describeViolation(k validator.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		if k.Got == "number" && slices.Equal(k.Want, []string{"integer"}) {
			return "must be a whole number"
		}
		return fmt.Sprintf("must be %s, not %s", typeNames(k.Want), typeName(k.Got))
	case *kind.Enum:
		names := make([]string, len(k.Want))
		for i, v := range k.Want {
			names[i] = formatValue(v)
		}
		return oneOfMessage(names)
	case *kind.Const:
		return "must be " + formatValue(k.Want)
	case *kind.Format:
		return FormatRule(k.Want)
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("must be at least %d characters long; it has %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must be at most %d characters long; it has %d", k.Want, k.Got)
	case *kind.Pattern:
		if k.Want == TimePattern {
			return "must be a time of day, such as 18:30"
		}
		return "must match the pattern " + k.Want
	case *kind.Minimum:
		return "must be at least " + formatRat(k.Want)
	case *kind.Maximum:
		return "must be at most " + formatRat(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + formatRat(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + formatRat(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + formatRat(k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s; it has %d", humanize.Count(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s; it has %d", humanize.Count(k.Want, "item"), k.Got)
	case *kind.UniqueItems:
		return "must not have the same item twice"
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.Not:
		return "must not match the schema's keyword not"
	}
	return "must satisfy the schema's keyword " + strings.Join(k.KeywordPath(), "/")
}

// FormatRule returns the message for a value that isn't valid in a JSON Schema format,
// such as "must be a date, such as 2026-12-31".
func FormatRule(format string) string {
	switch format {
	case "email":
		return "must be an email address, such as ada@example.org"
	case "uri":
		return "must be a complete web address, such as https://example.org/page"
	case "date":
		return "must be a date, such as 2026-12-31"
	case "date-time":
		return "must be a date and time with its zone, such as 2026-12-31T18:30:00Z"
	case "time":
		return "must be a time with its zone, such as 18:30:00Z"
	}
	return "must have the format " + format
}

// maxListedChoices is the number of choices that an error lists.
const maxListedChoices = 20

func oneOfMessage(values []string) string {
	if len(values) <= maxListedChoices {
		return "must be one of " + strings.Join(values, ", ")
	}
	return fmt.Sprintf("must be one of %s … (%d in all)", strings.Join(values[:maxListedChoices], ", "), len(values))
}

func typeNames(types []string) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = typeName(t)
	}
	return strings.Join(names, " or ")
}

func typeName(t string) string {
	switch t {
	case "string":
		return "text"
	case "number":
		return "a number"
	case "integer":
		return "a whole number"
	case "boolean":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return t
}

func formatValue(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(mustMarshal(v))
}

func formatRat(r *big.Rat) string {
	f, _ := r.Float64()
	return humanize.Number(f)
}
