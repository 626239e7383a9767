package calls

import (
	"encoding/json"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
)

// ServeUpstreamRequest serves a request to an upstream as a run of a photon, which makes
// it, so that the upstream can ask the person meanwhile. A run during which it asked nothing
// is forgotten. The name identifies the request with params.
func (s *Service) ServeUpstreamRequest(r *session.Request, photon *generators.Photon, name string, params json.RawMessage, answer func(requests.Reply)) {
	start := start{name: name, args: params, photon: photon, isUnlisted: true}
	s.starter.serveCall(r, &start, answer, func(run *run) (*call, func(requests.Reply)) {
		c := s.starter.newCall(r, run, startedRun{run: run}, upstreamResult(r.Message.Method))
		c.presence = start.presence
		return c, func(reply requests.Reply) {
			if !c.asked.Load() {
				if err := s.config.Engine.Discard(r.Client.Caller, run.id); err != nil {
					s.config.Logger.Error("forgetting a request to an upstream", "run", run.id, "err", err)
				}
			}
			answer(reply)
		}
	})
}
