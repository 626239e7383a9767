package generators

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rule"
)

// A FieldError describes what is wrong with one part of a value.
type FieldError struct {
	// Path is a JSON Pointer (RFC 6901) to the part; empty for the whole value.
	Path string `json:"path"`
	// Message is what to say of the field, without naming it, as in "must be at
	// least 2 characters long".
	Message string `json:"message"`
	// Rule is the rule that the part breaks, by the name of its keyword in JSON Schema, such
	// as "required" or "maximum", or a name of Beam's own. It is empty for what only the
	// message says. Programs compare rules, not messages.
	Rule string `json:"rule,omitempty"`
	// Want is what the rule asks for, such as "18" for the rule "minimum".
	Want string `json:"want,omitempty"`
	// Got is the type, or the number of characters or items, that there is instead. It is
	// never the value, which may be secret.
	Got string `json:"got,omitempty"`
}

// violation returns the error of a part that breaks a rule.
func violation(path, name, want, got string) FieldError {
	return FieldError{Path: path, Message: rule.Message(name, want, got), Rule: name, Want: want, Got: got}
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

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

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
	add := func(path, name, want, got string) { *to = append(*to, violation(path, name, want, got)) }
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			add(path+"/"+pointerEscaper.Replace(name), rule.Required, "", "")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(path+"/"+pointerEscaper.Replace(name), rule.AdditionalProperties, "", "")
		}
	case *kind.OneOf, *kind.AnyOf:
		if values, ok := constChoices(e); ok {
			add(path, rule.Enum, oneOf(values), "")
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
		add(path, rule.AnyOf, "", "")
	default:
		if len(e.Causes) == 0 {
			name, want, got := violatedRule(e.ErrorKind)
			add(path, name, want, got)
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
func constChoices(e *validator.ValidationError) ([]any, bool) {
	var values []any
	for _, cause := range e.Causes {
		if c, ok := cause.ErrorKind.(*kind.Const); ok {
			values = append(values, c.Want)
			continue
		}
		for _, leaf := range cause.Causes {
			c, ok := leaf.ErrorKind.(*kind.Const)
			if !ok {
				return nil, false
			}
			values = append(values, c.Want)
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

// violatedRule returns the rule that a value breaks.
func violatedRule(k validator.ErrorKind) (name, want, got string) {
	switch k := k.(type) {
	case *kind.Type:
		return rule.Type, strings.Join(k.Want, ","), k.Got
	case *kind.Enum:
		return rule.Enum, oneOf(k.Want), ""
	case *kind.Const:
		return rule.Const, formatValue(k.Want), ""
	case *kind.Format:
		return rule.Format, k.Want, ""
	case *kind.MinLength:
		return rule.MinLength, strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.MaxLength:
		return rule.MaxLength, strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.Pattern:
		return rule.Pattern, k.Want, ""
	case *kind.Minimum:
		return rule.Minimum, formatRat(k.Want), ""
	case *kind.Maximum:
		return rule.Maximum, formatRat(k.Want), ""
	case *kind.ExclusiveMinimum:
		return rule.ExclusiveMinimum, formatRat(k.Want), ""
	case *kind.ExclusiveMaximum:
		return rule.ExclusiveMaximum, formatRat(k.Want), ""
	case *kind.MultipleOf:
		return rule.MultipleOf, formatRat(k.Want), ""
	case *kind.MinItems:
		return rule.MinItems, strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.MaxItems:
		return rule.MaxItems, strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.Not:
		return rule.Not, "", ""
	case *kind.FalseSchema:
		return rule.Forbidden, "", ""
	}
	return strings.Join(k.KeywordPath(), "/"), "", ""
}

// oneOf returns what an enum of the values asks for.
func oneOf(values []any) string {
	return rule.OneOf(len(values), func(i int) string { return formatValue(values[i]) })
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
