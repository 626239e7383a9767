package asking

import (
	"encoding/json"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

// ForFields returns the prompt of a form that is made of fields. Its value is the answer's
// content, an object that [askdata.Fields.Check] has accepted. A person answers a form
// without fields by accepting it.
func ForFields(key, message string, fields askdata.Fields, options ...ask.Option) *ask.Prompt[json.RawMessage] {
	return askdata.NewFormPrompt(key, message, fields, options).(*ask.Prompt[json.RawMessage])
}
