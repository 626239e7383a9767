package app

import (
	"context"
	"errors"
	"os"
	"runtime/debug"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/programdigest"
	"github.com/photon-beam/beam/internal/replica"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
)

// Version returns the version of the program's main module, or "devel" if the
// build does not record it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
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

// sharedState returns the small state that other processes share; nil if none do.
func (a *App) sharedState() smallstate.Store {
	if a.member == nil {
		return nil
	}
	return a.store.State
}

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

// storeErr returns why the store accepts no appends, as far as is known; nil if it does.
func (a *App) storeErr() error {
	if l, ok := a.store.Store.(interface{ Err() error }); ok {
		return errors.Join(l.Err(), a.member.Err())
	}
	return nil
}

func (a *App) isStoreUp() bool { return a.storeErr() == nil }
