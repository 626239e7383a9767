package policy

import (
	"context"
	"crypto/rand"

	"github.com/photon-beam/beam/internal/smallstate"
)

// changesOf returns the bucket that says of which upstreams the pins have changed.
func changesOf(s smallstate.Store) smallstate.Bucket {
	return smallstate.Bucket{Store: s, Name: "pins-changed"}
}

// Versions returns a text for each upstream of which something was accepted, which changes with that.
func Versions(ctx context.Context, s smallstate.Store) (map[string]string, error) {
	values, err := changesOf(s).Values(ctx)
	versions := make(map[string]string, len(values))
	for _, v := range values {
		versions[v.Key] = string(v.Value)
	}
	return versions, err
}

// publish stores what somebody has decided, so that other processes see it. Callers hold mu.
func (p *Pins) publish() error {
	if err := p.store(); err != nil {
		return err
	}
	return p.changes.Update(context.Background(), p.upstream, func([]byte) ([]byte, error) { return []byte(rand.Text()), nil })
}

// Reload reads again what is accepted, which another process has changed; the caller then reviews
// the tools again.
func (p *Policy) Reload() error {
	p.pins.mu.Lock()
	defer p.pins.mu.Unlock()
	return p.pins.reload()
}
