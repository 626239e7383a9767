package run

import (
	"context"
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
func (r *record) hearStatus(e log.Entry) {
	r.said = e.Seq
	if r.work != nil {
		r.work.status = e.Data
	}
}

// lastSaid is what [Info.Said] says. Callers hold mu.
func (r *record) lastSaid(ctx context.Context) (string, error) {
	if r.said == 0 || r.state.Ended() {
		return "", nil
	}
	if w := r.work; w != nil && w.status != nil {
		return saidBy(log.Entry{Seq: r.said, Kind: kindStatus, Data: w.status})
	}
	for batch, err := range r.engine.hydrated(r.id, r.engine.log.Read(ctx, r.id, r.said-1)) {
		if err != nil {
			return "", err
		}
		return saidBy(batch[0])
	}
	return "", log.ErrNotFound
}

func saidBy(e log.Entry) (string, error) {
	s, err := log.As[generators.StatusEvent](e)
	return short(s.Text), err
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
