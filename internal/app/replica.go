package app

import (
	"context"
	"os"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/programdigest"
	"github.com/photon-beam/beam/internal/replica"
	"github.com/photon-beam/beam/internal/store"
)

// join makes the process one of those that share the store, if others may.
func (a *App) join(ctx context.Context, c Config, options *engine.Options) (err error) {
	s := a.store.Sharing
	if s == nil {
		return nil
	}
	if a.member, err = replica.Join(ctx, s, a.store.Worker, c.about(), c.Logger); err != nil {
		return err
	}
	options.Keys = a.store.Keys
	options.Replica = struct {
		*replica.Member
		*store.Sharing
	}{a.member, s}
	return nil
}

// isStoreUp reports whether the store accepts appends, as far as is known.
func (a *App) isStoreUp() bool {
	l, ok := a.store.Store.(interface{ Err() error })
	return (!ok || l.Err() == nil) && (a.member == nil || a.member.HasContact())
}

// about returns what the process says of itself to those that share its store.
func (c *Config) about() sharing.About {
	host, _ := os.Hostname()
	about := sharing.About{Version: Version(), Program: programdigest.Get(), Host: host, PID: os.Getpid(), URL: c.Site.Origin}
	for _, p := range c.Photons.All() {
		if p.Options().Durable {
			about.Photons = append(about.Photons, p.Name())
		}
	}
	return about
}
