package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

// An Option refines a question. If it doesn't apply to the question's kind, asking
// returns an error.
type Option struct{ apply func(*askdata.Question) error }

// Timeout limits how long the question may stay open. When it elapses, asking
// returns [ErrTimeout].
func Timeout(d time.Duration) Option {
	return Option{func(q *askdata.Question) error {
		if d < 0 {
			return fmt.Errorf("ask.Timeout: the timeout %v is negative", d)
		}
		q.Timeout = askdata.Millis(d)
		return nil
	}}
}

// Destructive marks a confirmation of something that can't be undone.
func Destructive() Option {
	return Option{func(q *askdata.Question) error {
		q.Destructive = true
		return requireKind(q, "Destructive", askdata.KindConfirm)
	}}
}

// Verbs labels the two buttons of a confirmation, as in "Delete", "Keep".
func Verbs(yes, no string) Option {
	return Option{func(q *askdata.Question) error {
		q.Yes, q.No = yes, no
		return requireKind(q, "Verbs", askdata.KindConfirm)
	}}
}

// UntilDone keeps a URL question open until the person reports, on Beam's page,
// that they are done at the address; see [URL].
func UntilDone() Option {
	return Option{func(q *askdata.Question) error {
		q.UntilDone = true
		return requireKind(q, "UntilDone", askdata.KindURL)
	}}
}

// AnsweredBy stores in *to who answered or declined the question. If nobody did, or
// it isn't known who, *to becomes the zero Caller. A [Prompt] with this option must
// not be asked from several goroutines at once.
func AnsweredBy(to *generators.Caller) Option {
	return Option{func(q *askdata.Question) error {
		if to == nil {
			return errors.New("ask.AnsweredBy: needs a variable to store the caller in")
		}
		q.AnsweredBy = to
		return nil
	}}
}

// Optional lets the person leave the field blank. Asking then returns the zero
// value, as it does for an empty text or the number 0. To tell these apart, ask a
// [Form] with a pointer field.
func Optional() Option {
	return fieldOption("Optional", nil, func(f *askdata.Field) { f.Required = false })
}

// Title sets the field's label. The default is the key.
func Title(text string) Option {
	return fieldOption("Title", nil, func(f *askdata.Field) { f.Title = text })
}

// Description sets the text that explains the field.
func Description(text string) Option {
	return fieldOption("Description", nil, func(f *askdata.Field) { f.Description = text })
}

// Default sets the field's initial value. The value has the type that the question
// returns: a string, a number, a bool, a []string or a time.Time. If it would be
// rejected as an answer, asking returns an error.
func Default(value any) Option {
	return Option{func(q *askdata.Question) error {
		if t, ok := value.(time.Time); ok && q.Kind == askdata.KindDate {
			value = t.Format(time.DateOnly)
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("ask.Default: %w", err)
		}
		if q.Kind == askdata.KindSecret {
			return fmt.Errorf("ask.Default: a secret can't have a default")
		}
		return fieldOption("Default", nil, func(f *askdata.Field) { f.Default = raw }).apply(q)
	}}
}

// Long lets a text have several lines.
func Long() Option {
	return fieldOption("Long", askdata.TextKinds, func(f *askdata.Field) { f.Format = askdata.FormatLong })
}

// Length limits the length of a text in Unicode code points, as JSON Schema counts
// characters. A max of 0 means no limit. Browsers count a character above U+FFFF,
// such as an emoji, twice, so text that a browser accepts is never too long.
func Length(min, max int) Option {
	return fieldOption("Length", askdata.TextKinds, func(f *askdata.Field) { f.MinLength, f.MaxLength = min, max })
}

// Pattern requires a text to match a regular expression (RE2). The hint states the
// rule in words, as in "must be three capital letters".
func Pattern(expr, hint string) Option {
	return Option{func(q *askdata.Question) error {
		if _, err := regexp.Compile(expr); err != nil {
			return fmt.Errorf("ask.Pattern: %w", err)
		}
		return fieldOption("Pattern", askdata.TextKinds, func(f *askdata.Field) { f.Pattern, f.PatternHint = expr, hint }).apply(q)
	}}
}

// Email requires a text to be an email address.
func Email() Option {
	return fieldOption("Email", askdata.TextKinds, func(f *askdata.Field) { f.Format = "email" })
}

// Address requires a text to be an absolute URI.
func Address() Option {
	return fieldOption("Address", askdata.TextKinds, func(f *askdata.Field) { f.Format = "uri" })
}

// Range limits a number to min through max. An infinity means no limit.
func Range(min, max float64) Option {
	return fieldOption("Range", askdata.NumberKinds, func(f *askdata.Field) {
		f.Minimum, f.Maximum = &min, &max
		if math.IsInf(min, -1) {
			f.Minimum = nil
		}
		if math.IsInf(max, 1) {
			f.Maximum = nil
		}
	})
}

// Step requires a number to be a multiple of step.
func Step(step float64) Option {
	return fieldOption("Step", askdata.NumberKinds, func(f *askdata.Field) { f.Step = &step })
}

// Items limits how many choices of a [MultiSelect] a person may make. A max of 0
// means no limit.
func Items(min, max int) Option {
	return fieldOption("Items", []askdata.Kind{askdata.KindMultiSelect}, func(f *askdata.Field) { f.MinItems, f.MaxItems = min, max })
}

// Between limits a date or date-time to earliest through latest. A zero time means
// no limit.
func Between(earliest, latest time.Time) Option {
	return fieldOption("Between", []askdata.Kind{askdata.KindDate, askdata.KindDateTime}, func(f *askdata.Field) {
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

// Choose sets the choices of a form's field, for choices that are known only when
// the question is asked.
func Choose(name string, choices ...Choice) Option {
	return formFieldOption("Choose", name, func(f *askdata.Field) error {
		if f.Type != "string" && f.Type != "array" {
			return fmt.Errorf("is for strings and lists of strings, and the type of %q is %s", name, f.Type)
		}
		if len(choices) == 0 {
			return fmt.Errorf("the field %q needs at least one choice", name)
		}
		f.Choices, f.Format, f.Pattern, f.MinLength, f.MaxLength = choiceData(choices), "", "", 0, 0
		return nil
	})
}

// Preset sets the initial value of a form's field.
func Preset(name string, value any) Option {
	return formFieldOption("Preset", name, func(f *askdata.Field) (err error) {
		f.Default, err = json.Marshal(value)
		return err
	})
}

// fieldOption returns an option that changes the only field of a question. Nil
// kinds are all kinds that have one.
func fieldOption(name string, kinds []askdata.Kind, change func(*askdata.Field)) Option {
	return Option{func(q *askdata.Question) error {
		if _, hasOne := q.Kind.Field(); len(q.Fields) != 1 || !hasOne {
			return fmt.Errorf("ask.%s is for questions with one field, not for a %s question", name, q.Kind)
		}
		if kinds != nil {
			if err := requireKind(q, name, kinds...); err != nil {
				return err
			}
		}
		change(&q.Fields[0])
		return nil
	}}
}

func formFieldOption(option, name string, change func(*askdata.Field) error) Option {
	return Option{func(q *askdata.Question) error {
		f := q.Fields.Field(name)
		if q.Kind != askdata.KindForm || f == nil {
			return fmt.Errorf("ask.%s: this %s question has no field %q", option, q.Kind, name)
		}
		if err := change(f); err != nil {
			return fmt.Errorf("ask.%s: %w", option, err)
		}
		return nil
	}}
}

func requireKind(q *askdata.Question, option string, kinds ...askdata.Kind) error {
	if !slices.Contains(kinds, q.Kind) {
		return fmt.Errorf("ask.%s is for %v, not for a %s question", option, kinds, q.Kind)
	}
	return nil
}
