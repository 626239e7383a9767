package upstream

import (
	"bytes"
	"context"

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

// maskSecrets returns a message without the secrets of the upstream's configuration, as they
// are and as JSON writes them.
func (u *Upstream) maskSecrets(raw []byte) []byte {
	for _, secret := range u.server.Secrets {
		if secret == "" {
			continue
		}
		quoted := rawjson.EncodeText(secret)
		for _, text := range [][]byte{quoted[1 : len(quoted)-1], []byte(secret)} {
			raw = bytes.ReplaceAll(raw, text, []byte("***"))
		}
	}
	return raw
}
