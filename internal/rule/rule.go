// Package rule names the rules that a value can break, and says in words how it breaks
// one. The words are made here alone, for every surface; programs compare names.
package rule

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
)

// The rules that are keywords of JSON Schema have the keyword's name. Another keyword
// can be a rule too.
const (
	Required             = "required"
	AdditionalProperties = "additionalProperties"
	Type                 = "type"
	Enum                 = "enum"
	Const                = "const"
	Format               = "format"
	Pattern              = "pattern"
	MinLength            = "minLength"
	MaxLength            = "maxLength"
	Minimum              = "minimum"
	Maximum              = "maximum"
	ExclusiveMinimum     = "exclusiveMinimum"
	ExclusiveMaximum     = "exclusiveMaximum"
	MultipleOf           = "multipleOf"
	MinItems             = "minItems"
	MaxItems             = "maxItems"
	UniqueItems          = "uniqueItems"
	AnyOf                = "anyOf"
	Not                  = "not"
)

// The rules of Beam's own.
const (
	Earliest  = "earliest"  // of a date, or of a date and time
	Latest    = "latest"    // likewise
	Int64     = "int64"     // a whole number has at most 64 bits
	Magnitude = "magnitude" // a number has few enough digits to compute with
	JSON      = "json"      // a text is JSON
	Forbidden = "forbidden" // no value is valid here
)

// TimePattern is the pattern for a time of day, HH:MM, in a schema: JSON Schema's own
// format "time" requires seconds and a zone.
const TimePattern = `^([01]\d|2[0-3]):[0-5]\d$`

// Message says of a value that it breaks a rule, without naming it: "must be at least
// 2". Want is what the rule asks for, and got what there is: a type, or a count of
// characters or items. Types are those of JSON Schema, with commas between several.
func Message(rule, want, got string) string {
	switch rule {
	case Required:
		return "is required"
	case AdditionalProperties:
		return "is not a known field"
	case Forbidden:
		return "is not allowed here"
	case UniqueItems:
		return "must not have the same item twice"
	case AnyOf:
		return "must match one of the alternatives in the schema"
	case Not:
		return "must not match the schema's keyword not"
	case Int64:
		return fmt.Sprintf("must be between %d and %d", math.MinInt64, math.MaxInt64)
	case Magnitude:
		return "must be a number of ordinary size"
	case Type:
		return typeMessage(want, got)
	case Format, Pattern:
		return textMessage(rule, want)
	case MinLength, MaxLength, MinItems, MaxItems:
		return countMessage(rule, want, got)
	}
	if words := boundWords[rule]; words != "" {
		return words + " " + want
	}
	return "must satisfy the schema's keyword " + rule
}

// boundWords precede what the rule asks for.
var boundWords = map[string]string{
	Enum: "must be one of", Const: "must be", Earliest: "must not be before", Latest: "must not be after",
	Minimum: "must be at least", Maximum: "must be at most", ExclusiveMinimum: "must be more than", ExclusiveMaximum: "must be less than",
	MultipleOf: "must be a multiple of",
}

func typeMessage(want, got string) string {
	if want == "integer" && got == "number" {
		return "must be a whole number"
	}
	types := strings.Split(want, ",")
	for i, t := range types {
		types[i] = rawjson.NameOfType(t)
	}
	return "must be " + strings.Join(types, " or ") + ", not " + rawjson.NameOfType(got)
}

func textMessage(rule, want string) string {
	switch noun, example := Example(rule, want); {
	case noun != "":
		return "must be " + noun + ", such as " + example
	case rule == Format:
		return "must have the format " + want
	}
	return "must match the pattern " + want
}

// Example returns the noun for values of a format or pattern, and one of them; empty if
// people have no word for them.
func Example(rule, want string) (noun, example string) {
	if rule == Pattern && want == TimePattern {
		return "a time of day", "18:30"
	}
	if rule != Format {
		return "", ""
	}
	switch want {
	case "email":
		return "an email address", "ada@example.org"
	case "uri":
		return "a complete web address", "https://example.org/page"
	case "date":
		return "a date", "2026-12-31"
	case "date-time":
		return "a date and time with its zone", "2026-12-31T18:30:00Z"
	case "time":
		return "a time with its zone", "18:30:00Z"
	}
	return "", ""
}

func countMessage(rule, want, got string) string {
	if rule == MinLength && want == "1" {
		return "must not be empty"
	}
	bound := "at least"
	if rule == MaxLength || rule == MaxItems {
		bound = "at most"
	}
	text := fmt.Sprintf("must be %s %s characters long", bound, want)
	if rule == MinItems || rule == MaxItems {
		n, _ := strconv.Atoi(want) // a count
		text = fmt.Sprintf("must have %s %s", bound, humanize.Count(n, "item"))
	}
	if got != "" {
		text += "; it has " + got
	}
	return text
}

// maxListed is how many values a list for people names.
const maxListed = 20

// OneOf returns what [Enum] asks for: the n values of which name returns one each, and how many there
// are if they are too many to be listed.
func OneOf(n int, name func(i int) string) string {
	names := make([]string, min(n, maxListed))
	for i := range names {
		names[i] = name(i)
	}
	list := strings.Join(names, ", ")
	if n > maxListed {
		list += fmt.Sprintf(" … (%d in all)", n)
	}
	return list
}
