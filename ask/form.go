package ask

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

// Form asks for all fields of T, a flat struct, at once; see
// [generators.SchemaFor] for its tags. Fields tagged omitempty are optional: if
// left blank, they are the zero value, which is nil for a pointer.
func Form[T any](yield generators.Yield, key, message string, opts ...Option) (T, error) {
	return ForForm[T](key, message, opts...).Ask(yield)
}

// ForForm returns the prompt of [Form].
func ForForm[T any](key, message string, opts ...Option) *Prompt[T] {
	p := &Prompt[T]{key: key, question: &askdata.Question{Kind: askdata.KindForm, Message: message}}
	p.decode = func(r driver.Reply) (T, error) { return decodeAs[T](r.Value) }
	form, err := formFor(reflect.TypeFor[T](), generators.SchemaFor[T])
	if err != nil {
		p.err = fmt.Errorf("ask %q: %w", key, err)
		return p
	}
	p.question.Fields = slices.Clone(form) // options change the copy
	p.err = p.applyOptions(opts)
	return p
}

// Fits returns an error if T can't be asked for with [Form]. List it in the
// photon's Options.Forms to check T when the photon is registered:
//
//	Forms: []func() error{ask.Fits[Preferences]}
func Fits[T any]() error {
	form, err := formFor(reflect.TypeFor[T](), generators.SchemaFor[T])
	if err != nil {
		return err
	}
	if reason := form.SecretRefusal(); reason != "" {
		return &PolicyError{reason}
	}
	return nil
}

// formCache holds the form of each type, or the error.
var formCache sync.Map // reflect.Type → formEntry

type formEntry struct {
	form askdata.Fields
	err  error
}

func formFor(t reflect.Type, schema func() (*generators.Schema, error)) (askdata.Fields, error) {
	if e, ok := formCache.Load(t); ok {
		return e.(formEntry).form, e.(formEntry).err
	}
	var e formEntry
	s, err := schema()
	if err == nil {
		e.form, err = askdata.FromTypeSchema(s.Document())
	}
	if err != nil {
		e.err = fmt.Errorf("%s can't be a form: %w", t, err)
	}
	formCache.Store(t, e)
	return e.form, e.err
}

// ForSchema returns the prompt of a form that is known only at run time: a JSON Schema of
// an object. Asking returns an error for what a form can't represent: nested objects, lists
// of anything but choices, unknown formats, conditions, and more than 100 fields; it names
// the field. The prompt's value is the answer's content, an object that meets the schema. A
// person answers a form without fields by accepting it.
func ForSchema(key, message string, schema *jsonschema.Schema, opts ...Option) *Prompt[json.RawMessage] {
	fields, err := askdata.FromSchema(schema)
	p := forFields(key, message, fields, opts)
	if err != nil {
		p.err = fmt.Errorf("ask %q: %w", key, err)
	}
	return p
}

func forFields(key, message string, fields askdata.Fields, opts []Option) *Prompt[json.RawMessage] {
	p := &Prompt[json.RawMessage]{key: key, question: &askdata.Question{Kind: askdata.KindForm, Message: message}}
	p.question.Fields = slices.Clone(fields) // options change the copy
	p.err = p.applyOptions(opts)
	p.decode = func(r driver.Reply) (json.RawMessage, error) { return r.Value, nil }
	return p
}
