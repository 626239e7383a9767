package policy

import (
	"encoding/json"
	"time"
)

// A Decision is what Beam does with a tool of an upstream.
type Decision string

// The decisions.
const (
	Offered Decision = "offered" // as a photon
	Held    Decision = "held"    // back, since it changed, until an operator accepts it
	Denied  Decision = "denied"  // by the lists allow and deny
	Skipped Decision = "skipped" // since it can't be offered
)

// A ToolStatus is a tool that an upstream lists.
type ToolStatus struct {
	Name     string          `json:"name"`
	Title    string          `json:"title,omitempty"`
	Decision Decision        `json:"decision"`
	Reason   string          `json:"reason,omitempty"` // for the decision, in a sentence
	Photon   string          `json:"photon,omitempty"` // the name of the photon, if it is offered
	Added    time.Time       `json:"added,omitzero"`   // if it came after the upstream was first seen
	Change   *Change         `json:"change,omitempty"` // if it is held back
	Raw      json.RawMessage `json:"-"`                // the definition, as the upstream gave it
}

// A Change is how a tool differs from what the operator accepted.
type Change struct {
	Digest string          `json:"digest"` // of New
	Since  time.Time       `json:"since"`
	Old    json.RawMessage `json:"old"` // the parts that are pinned
	New    json.RawMessage `json:"new"`
}
