package ask

import (
	"encoding/json"
	"slices"

	"github.com/photon-beam/beam/generators"
)

// ForFields returns the prompt of a form that is known only at run time, such as a
// form that another server requests; see [FromSchema]. Its value is the answer's
// content, an object that [Fields.Check] has accepted. A person answers a form
// without fields by accepting it.
func ForFields(key, message string, fields Fields, opts ...Option) *Prompt[json.RawMessage] {
	p := &Prompt[json.RawMessage]{key: key, question: &Question{Kind: KindForm, Message: message}}
	p.question.Fields = slices.Clone(fields) // options change the copy
	p.err = p.applyOptions(opts)
	p.decode = func(r generators.Reply) (json.RawMessage, error) { return r.Value, nil }
	return p
}
