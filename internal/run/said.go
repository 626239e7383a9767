package run

import (
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// kindStatus is the kind of a [generators.StatusEvent].
const kindStatus log.Kind = "status"

// maxSaid bounds the status that is remembered of a run, in bytes: a line for a
// list, of which there may be many thousands.
const maxSaid = 200

// hearStatus remembers the latest status that the photon told. Callers hold mu.
func (r *record) hearStatus(e log.Entry) error {
	s, err := log.As[generators.StatusEvent](e)
	if err != nil {
		return err
	}
	r.said = strings.Clone(short(s.Text))
	return nil
}

// short cuts a text to maxSaid bytes, between two characters.
func short(text string) string {
	if len(text) <= maxSaid {
		return text
	}
	end := maxSaid - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
