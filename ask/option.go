package ask

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"
)

// An Option refines a question. One that doesn't fit the question's kind makes
// the ask fail with an error that says so.
type Option func(*Question) error

// Timeout bounds how long the question may stay open; then the ask fails with
// [ErrTimeout].
func Timeout(d time.Duration) Option {
	return func(q *Question) error {
		if d < 0 {
			return fmt.Errorf("ask.Timeout: %v is no time to wait", d)
		}
		q.Timeout = Millis(d)
		return nil
	}
}

// Destructive marks a confirmation whose yes destroys something.
func Destructive() Option {
	return func(q *Question) error {
		q.Destructive = true
		return requireKind(q, "Destructive", KindConfirm)
	}
}

// Verbs names the two buttons of a confirmation, as in "Delete", "Keep".
func Verbs(yes, no string) Option {
	return func(q *Question) error {
		q.Yes, q.No = yes, no
		return requireKind(q, "Verbs", KindConfirm)
	}
}

// UntilDone keeps a URL question open until the person says, on Beam's page,
// that what they opened the address for is done; see [URL].
func UntilDone() Option {
	return func(q *Question) error {
		q.UntilDone = true
		return requireKind(q, "UntilDone", KindURL)
	}
}

// Optional lets the person leave the field blank; then the ask returns the
// zero value, as for a text that is empty or a number that is 0. Where the
// difference matters, ask a [Form] with a pointer field.
func Optional() Option { return fieldOption("Optional", nil, func(f *Field) { f.Required = false }) }

// Title is the field's label. The key is, without it.
func Title(text string) Option { return fieldOption("Title", nil, func(f *Field) { f.Title = text }) }

// Description explains the field.
func Description(text string) Option {
	return fieldOption("Description", nil, func(f *Field) { f.Description = text })
}

// Default fills the field in beforehand. The value is of the ask's own type: a
// string, number or bool, a list of strings, or a time.Time. One that would be
// refused as an answer makes the ask fail.
func Default(value any) Option {
	return func(q *Question) error {
		if t, ok := value.(time.Time); ok && q.Kind == KindDate {
			value = t.Format(time.DateOnly)
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("ask.Default: %w", err)
		}
		if q.Kind == KindSecret {
			return fmt.Errorf("ask.Default: a secret has no default")
		}
		return fieldOption("Default", nil, func(f *Field) { f.Default = raw })(q)
	}
}

// Long gives a text several lines.
func Long() Option { return fieldOption("Long", textKinds, func(f *Field) { f.Format = FormatLong }) }

// Length bounds a text in characters, as JSON Schema counts them: Unicode code
// points. A max of 0 is no bound. Browsers count a character beyond U+FFFF, such
// as an emoji, twice, so what one lets people type is never too long.
func Length(min, max int) Option {
	return fieldOption("Length", textKinds, func(f *Field) { f.MinLength, f.MaxLength = min, max })
}

// Pattern wants a text to match a regular expression (RE2); hint says in words
// what would be right, as in "must be three capital letters".
func Pattern(expr, hint string) Option {
	return func(q *Question) error {
		if _, err := regexp.Compile(expr); err != nil {
			return fmt.Errorf("ask.Pattern: %w", err)
		}
		return fieldOption("Pattern", textKinds, func(f *Field) { f.Pattern, f.PatternHint = expr, hint })(q)
	}
}

// Email and Address want a text to be an e-mail address or a web address.
func Email() Option { return fieldOption("Email", textKinds, func(f *Field) { f.Format = "email" }) }

// Address wants a text to be a whole web address; see [Email].
func Address() Option { return fieldOption("Address", textKinds, func(f *Field) { f.Format = "uri" }) }

// Range bounds a number, ends included. An infinity is no bound.
func Range(min, max float64) Option {
	return fieldOption("Range", numberKinds, func(f *Field) {
		f.Minimum, f.Maximum = &min, &max
		if math.IsInf(min, -1) {
			f.Minimum = nil
		}
		if math.IsInf(max, 1) {
			f.Maximum = nil
		}
	})
}

// Step wants a number to be a multiple of step.
func Step(step float64) Option {
	return fieldOption("Step", numberKinds, func(f *Field) { f.Step = &step })
}

// Items bounds how many choices a MultiSelect may have. A max of 0 is no bound.
func Items(min, max int) Option {
	return fieldOption("Items", []Kind{KindMultiSelect}, func(f *Field) { f.MinItems, f.MaxItems = min, max })
}

// Between bounds a date or a date-time, ends included. A zero time is no bound.
func Between(earliest, latest time.Time) Option {
	return fieldOption("Between", []Kind{KindDate, KindDateTime}, func(f *Field) {
		layout := time.RFC3339
		if f.Format == "date" {
			layout = time.DateOnly
		}
		if !earliest.IsZero() {
			f.Earliest = earliest.Format(layout)
		}
		if !latest.IsZero() {
			f.Latest = latest.Format(layout)
		}
	})
}

// Choose gives a form's field its choices, where they are known only when the
// question is asked.
func Choose(name string, choices ...Choice) Option {
	return formFieldOption("Choose", name, func(f *Field) error {
		if f.Type != "string" && f.Type != "array" {
			return fmt.Errorf("is for strings and lists of strings, and %q is %s", name, f.Type)
		}
		if len(choices) == 0 {
			return fmt.Errorf("there is nothing to choose from for %q", name)
		}
		f.Choices, f.Format, f.Pattern, f.MinLength, f.MaxLength = choices, "", "", 0, 0
		return nil
	})
}

// Preset fills a form's field in beforehand.
func Preset(name string, value any) Option {
	return formFieldOption("Preset", name, func(f *Field) (err error) {
		f.Default, err = json.Marshal(value)
		return err
	})
}

// Choices makes choices of plain values.
func Choices(values ...string) []Choice {
	choices := make([]Choice, len(values))
	for i, v := range values {
		choices[i] = Choice{Value: v}
	}
	return choices
}

var (
	textKinds   = []Kind{KindText, KindSecret}
	numberKinds = []Kind{KindNumber, KindInteger}
)

// fieldOption changes the only field of a simple question.
func fieldOption(name string, kinds []Kind, change func(*Field)) Option {
	return func(q *Question) error {
		if len(q.Fields) != 1 || !q.Kind.rules().hasOneField() {
			return fmt.Errorf("ask.%s is for questions of one field, not for a %s", name, q.Kind)
		}
		if kinds != nil {
			if err := requireKind(q, name, kinds...); err != nil {
				return err
			}
		}
		change(&q.Fields[0])
		return nil
	}
}

func formFieldOption(option, name string, change func(*Field) error) Option {
	return func(q *Question) error {
		f := q.Fields.Field(name)
		if q.Kind != KindForm || f == nil {
			return fmt.Errorf("ask.%s: there is no field %q in this %s", option, name, q.Kind)
		}
		if err := change(f); err != nil {
			return fmt.Errorf("ask.%s: %w", option, err)
		}
		return nil
	}
}

func requireKind(q *Question, option string, kinds ...Kind) error {
	if !slices.Contains(kinds, q.Kind) {
		return fmt.Errorf("ask.%s is for %v, not for a %s", option, kinds, q.Kind)
	}
	return nil
}
