package mcp

import "github.com/photon-beam/beam/internal/systemtest/programtest"

// CountPending counts the requests in flight and the questions that wait for a client's
// response, in all sessions.
func (s *Server) CountPending() (inFlight, awaited int) {
	for _, sess := range s.sessions.allHTTP() {
		f, a := sess.Requests.Count()
		inFlight, awaited = inFlight+f, awaited+a
	}
	return inFlight, awaited
}

// AwaitEffects makes replies about tasks wait until the task asks, pauses or ends, however
// busy the machine is. It must be called before the server serves.
func (s *Server) AwaitEffects() { s.tasks.EffectWait = programtest.WaitTimeout }
