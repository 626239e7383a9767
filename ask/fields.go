package ask

import (
	"encoding/json"
	"slices"

	"github.com/photon-beam/beam/generators"
)

// ForFields is the prompt of a form that is known only when it is asked, such
// as one that another server wants filled in; see [FromSchema]. Its value is the
// answer's content, an object that the fields have accepted. A form without
// fields is answered by accepting it.
func ForFields(key, message string, fields Fields, opts ...Option) *Prompt[json.RawMessage] {
	p := &Prompt[json.RawMessage]{key: key, question: &Question{Kind: KindForm, Message: message}}
	p.question.Fields = slices.Clone(fields) // options change it
	p.err = p.applyOptions(opts)
	p.decode = func(r generators.Reply) (json.RawMessage, error) { return r.Value, nil }
	return p
}
