package upstream

import (
	"context"
	"encoding/json"

	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/recording"
)

// observerOf returns what records the messages of a call, without the secrets of the
// upstream's configuration; nil if the run that ctx belongs to isn't recorded.
func (u *Upstream) observerOf(ctx context.Context) func(recording.Direction, []byte) {
	record := recording.ObserverOf(ctx)
	if record == nil {
		return nil
	}
	return func(way recording.Direction, raw []byte) {
		record(recording.Observed{Side: recording.Upstream, Peer: u.server.Name, Direction: way, Data: u.maskSecrets(raw)})
	}
}

// maskSecrets returns a message without the secrets of the upstream's configuration, however
// JSON writes them. In what is no JSON, they are masked as they are.
func (u *Upstream) maskSecrets(raw []byte) []byte {
	mask := func(text string) string { return maskSecrets(text, u.server.Secrets) }
	if !json.Valid(raw) {
		return []byte(mask(string(raw)))
	}
	return rawjson.MapTexts(raw, true, mask)
}
