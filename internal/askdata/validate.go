package askdata

import (
	"errors"
	"fmt"
	"math"

	"github.com/photon-beam/beam/internal/humanize"
)

// Validate checks a form that is about to be asked: each field must have a unique
// name, a type that a form supports and satisfiable rules, and each default must be
// an acceptable answer. The error names the field. Asking calls Validate; callers
// that build a question's fields in another way should call it too.
func (f Fields) Validate() error {
	names := make(map[string]bool, len(f))
	for i := range f {
		field := &f[i]
		if field.Name == "" {
			return fmt.Errorf("field %d has no name", i+1)
		}
		if names[field.Name] {
			return fmt.Errorf("field %q: another field has the same name", field.Name)
		}
		names[field.Name] = true
		if err := field.validate(); err != nil {
			return fmt.Errorf("field %q: %w", field.Name, err)
		}
	}
	return nil
}

func (f *Field) validate() error {
	switch f.Type {
	case "string", "number", "integer", "boolean":
	case "array":
		if len(f.Choices) == 0 {
			return errNoChoices
		}
	default:
		return fmt.Errorf("can't be asked: its type is %q", f.Type)
	}
	if err := f.validateBounds(); err != nil {
		return err
	}
	if f.Pattern != "" {
		if _, err := patterns.compile(f.Pattern); err != nil {
			return err
		}
	}
	if f.Default == nil {
		return nil
	}
	c := &checker{path: f.Name}
	if c.checkValue(f, f.Default); len(c.errs) > 0 {
		return fmt.Errorf("its default %s %s", f.Default, c.errs[0].Message)
	}
	return nil
}

// validateBounds returns an error if no value can satisfy the bounds.
func (f *Field) validateBounds() error {
	switch {
	case f.MinLength < 0 || f.MaxLength < 0 || f.MaxLength > 0 && f.MinLength > f.MaxLength:
		return fmt.Errorf("can't have %d to %d characters", f.MinLength, f.MaxLength)
	case f.MinItems < 0 || f.MaxItems < 0 || f.MaxItems > 0 && f.MinItems > f.MaxItems:
		return fmt.Errorf("can't have %d to %d items", f.MinItems, f.MaxItems)
	case f.Type == "array" && f.MinItems > len(f.Choices):
		return fmt.Errorf("can't have %d items of %d choices", f.MinItems, len(f.Choices))
	case !isFinite(f.Minimum) || !isFinite(f.Maximum) || !isFinite(f.Step):
		return errors.New("has a bound that is not a number")
	case f.Minimum != nil && f.Maximum != nil && *f.Minimum > *f.Maximum:
		return fmt.Errorf("can't be from %s to %s", humanize.Number(*f.Minimum), humanize.Number(*f.Maximum))
	case f.Step != nil && *f.Step <= 0:
		return errors.New("needs a step greater than 0")
	case f.Earliest != "" && f.Latest != "" && dateOrder(f.Format)(f.Latest, f.Earliest):
		return fmt.Errorf("can't be from %s to %s", f.Earliest, f.Latest)
	}
	return f.validateChoices()
}

func (f *Field) validateChoices() error {
	values := make(map[string]bool, len(f.Choices))
	for _, c := range f.Choices {
		if values[c.Value] {
			return fmt.Errorf("has the choice %q twice", c.Value)
		}
		values[c.Value] = true
	}
	return nil
}

func isFinite(f *float64) bool { return f == nil || !math.IsNaN(*f) && !math.IsInf(*f, 0) }
