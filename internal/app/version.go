package app

import (
	"os"
	"runtime/debug"

	"github.com/photon-beam/beam/internal/programdigest"
	"github.com/photon-beam/beam/internal/replica"
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
func (c *Config) about() replica.About {
	host, _ := os.Hostname()
	return replica.About{Version: Version(), Program: programdigest.Get(), Host: host, PID: os.Getpid(), URL: c.Site.Origin}
}
