package wire

import (
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/runsource"
	"github.com/photon-beam/beam/sse"
)

// Runs describes an engine's runs for the rendering of their messages.
type Runs struct {
	Engine  *engine.Engine
	Photons *generators.Registry
}

// Describe returns a run as the rendering of its JSON-RPC messages needs it. BaseURL begins the
// URLs in them.
func (s *Runs) Describe(caller generators.Caller, info engine.Info, baseURL string) sse.JSONRPCRun {
	photon, _ := s.Photons.Lookup(info.Photon)
	return sse.JSONRPCRun{
		ID: info.ID, PhotonName: info.Photon, Photon: photon,
		Source:   runsource.Source{Engine: s.Engine, Caller: caller, RunID: info.ID, Pages: func() (string, error) { return baseURL, nil }},
		Excludes: func(q *ask.Question) string { return s.Engine.Excludes(caller, info.ID, q) },
	}
}
