package generators

import (
	"context"
	"encoding/json"
	"errors"
)

// FromSchema returns a photon whose input and output schemas are known only at run
// time, such as those of another server's tool. The input must be an object. A nil
// output accepts any result. fn receives arguments that fit the input schema; its
// result is not validated.
func FromSchema(name string, input, output *Schema, fn Func[json.RawMessage, json.RawMessage], opts *Options) *Photon {
	p := &Photon{name: name, input: input, output: output}
	if opts != nil {
		p.options = *opts
	}
	p.setError(checkName(name))
	switch {
	case fn == nil:
		p.setError(errors.New("it has no function"))
	case input == nil || input.doc.Type != "object":
		p.setError(errors.New("its input must be an object"))
	}
	if output == nil {
		p.output = anySchema
	}
	p.setError(p.setDefinition())
	p.setError(p.options.Task.validate())
	p.setError(p.setExamples())
	for _, check := range p.options.Forms {
		p.setError(check())
	}
	p.invoke = func(ctx context.Context, args json.RawMessage, yield Yield) (any, error) {
		return fn(ctx, args, yield)
	}
	return p
}

// setDefinition prepares a photon with a definition. It does nothing for others.
func (p *Photon) setDefinition() (err error) {
	raw := p.options.Definition
	if raw == nil || p.err != nil {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return errors.New("Options.Definition must be a JSON object")
	}
	p.input, err = compile(p.input.raw, p.input.doc, assertFormatsOfMCP)
	return err
}

// maxBrieflyValidated is the size of the largest value, in bytes, that validateBriefly
// validates.
const maxBrieflyValidated = 64 << 10

// validateBriefly is Validate for a schema that may have been made to keep Beam busy: it
// accepts a value that is so large that validating it might take seconds.
func (s *Schema) validateBriefly(value json.RawMessage) error {
	if len(value) <= maxBrieflyValidated {
		return s.Validate(value)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil || members == nil {
		return &InvalidError{Fields: []FieldError{{Message: "must be an object"}}}
	}
	return nil
}

// anySchema accepts every value.
var anySchema = func() *Schema {
	s, err := ParseSchema(json.RawMessage("{}"))
	if err != nil {
		panic(err)
	}
	return s
}()
