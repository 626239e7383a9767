package app

import (
	"os"
	"runtime/debug"

	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/programdigest"
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
