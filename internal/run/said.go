package run

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// kindStatus is the kind of a [generators.StatusEvent].
const kindStatus log.Kind = "status"

// maxSaid bounds the status that is remembered of a run, in bytes: a line for a
// list, of which there may be many thousands.
const maxSaid = 200

// A brief is what is remembered of a run whose caller polls it, of which there
// are few among all runs; see [Request.Keep] and [Engine.Promise].
type brief struct {
	keep  time.Duration // from the start
	after time.Duration // from the end
	moved time.Time     // when the state changed last
	said  string        // the latest status
}

func briefOf(s log.Started, at time.Time) *brief {
	if s.Keep <= 0 {
		return nil
	}
	return &brief{keep: time.Duration(s.Keep), moved: at.Round(0)}
}

// hearStatus remembers the latest status that the photon told. Callers hold mu.
func (r *record) hearStatus(e log.Entry) error {
	if r.brief == nil {
		return nil
	}
	s, err := log.As[generators.StatusEvent](e)
	if err != nil {
		return err
	}
	r.brief.said = strings.Clone(short(s.Text))
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
