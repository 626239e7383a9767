package runlog

import (
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
)

// Asker says for people who asks a question, with the names that Beam gives and not those
// that an asker gives itself: "The tool create_issue of the server github". Photon is the
// one whose run asks.
func Asker(q *askdata.Question, photon string) string {
	switch {
	case q.Server == "":
		return "The tool " + photon
	case q.Tool == "":
		return "The server " + q.Server
	}
	return "The tool " + strings.TrimPrefix(q.Tool, q.Server+"__") + " of the server " + q.Server
}
