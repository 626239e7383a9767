package form

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/askdata"
)

// secrets returns the parts that hide what is typed.
func (p *Part) secrets() []*Part {
	if p.Kind == Control && p.Format == askdata.FormatSecret {
		return []*Part{p}
	}
	var list []*Part
	for _, part := range p.Parts {
		list = append(list, part.secrets()...)
	}
	return list
}

// HasSecrets reports whether a part hides what is typed.
func (p *Part) HasSecrets() bool { return len(p.secrets()) > 0 }

// WithoutSecrets returns [Part.Content] without what is typed hidden, to be shown.
func (p *Part) WithoutSecrets() json.RawMessage {
	hidden := p.secrets()
	typed := make([][]string, len(hidden))
	for i, secret := range hidden {
		typed[i], secret.Values = secret.Values, nil
	}
	content := p.Content()
	for i, secret := range hidden {
		secret.Values = typed[i]
	}
	return content
}

// AddSecrets fills in the secrets that the part lacks from an HTML form, since they
// aren't in its JSON. It reports whether there were any.
func (p *Part) AddSecrets(values map[string][]string) (added bool) {
	for _, secret := range p.secrets() {
		if posted := values[secret.Input]; len(secret.Values) == 0 && len(posted) > 0 && posted[len(posted)-1] != "" {
			secret.Values, added = posted, true
		}
	}
	return added
}
