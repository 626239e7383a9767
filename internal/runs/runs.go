// Package runs reaches the runs of a Beam for the terminal: those of an engine in this
// process with [Local], and those of another process, on this machine or elsewhere, over
// HTTP with [Remote]. Both have the same methods and errors.
package runs

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// Surface is what logs call the terminal.
const Surface = "terminal"

// A Photon describes a photon, as GET / does (docs/http.md).
type Photon struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations"`
	Durable      bool            `json:"durable"`
}

// An Answer is an answer to a question.
type Answer struct {
	Action  askdata.Action
	Content json.RawMessage // of an accepted question, but of one for files
	Files   []string        // the paths of the files, for a question for files
	// Rendered says how much of the question's evidence was shown.
	Rendered runlog.Rendering
	// Approve, if not nil, sends a question to a model instead of answering it; see Approve.
	Approve *sampling.Decision
}
