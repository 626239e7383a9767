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
	p.setError(p.options.Task.validate())
	for _, check := range p.options.Forms {
		p.setError(check())
	}
	p.invoke = func(ctx context.Context, args json.RawMessage, yield Yield) (any, error) {
		return fn(ctx, args, yield)
	}
	return p
}

// anySchema accepts every value.
var anySchema = func() *Schema {
	s, err := ParseSchema(json.RawMessage("{}"))
	if err != nil {
		panic(err)
	}
	return s
}()
