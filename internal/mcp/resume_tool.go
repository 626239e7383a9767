package mcp

import (
	"slices"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// openResumedRun prepares the call for the run that [ResumeTool] was called with. It
// returns the reply if the run can't be resumed.
func (c *call) openResumedRun(info engine.Info) *reply {
	if err := c.server.engine.ClearIdleTimeout(c.client.caller, info.ID); err != nil {
		return c.handleErrorReply(ResumeTool, err)
	}
	photon, ok := c.server.photons.Lookup(info.Photon)
	switch {
	case ok:
	case info.State.Ended(): // the log has its result
		photon = msg.PlaceholderPhoton(info.Photon)
	default:
		return c.errorResultReply("The tool " + info.Photon + " of this run is not available now. The run is waiting for it.")
	}
	c.photon, c.runID, c.followAfter, c.isResume = photon, info.ID, info.LastSeq, true
	c.keepRunResult() // a restart of Beam forgets it
	c.session.forgetSettledRequests(info)
	c.number = c.server.lastCallNumber.Add(1)
	return nil
}

// forgetSettledRequests removes the settled questions of a run's earlier calls whose
// streams broke off, since no follower is left to remove them.
func (s *session) forgetSettledRequests(info engine.Info) {
	open := map[uint64]bool{}
	for _, a := range info.Asks {
		_, seq, _ := runlog.SplitAskID(a.ID)
		open[seq] = true
	}
	for _, c := range s.disconnectedCalls(info.ID) {
		c.mu.Lock()
		var settled []string
		c.pending = slices.DeleteFunc(c.pending, func(p *pendingRequest) bool {
			done := !open[p.askSeq] && p.askSeq <= info.LastSeq
			if done {
				settled = append(settled, p.requestID())
			}
			return done
		})
		c.mu.Unlock()
		for _, id := range settled {
			s.requests.Forget(id)
		}
	}
}

// explainInterruption adds to the error of an interrupted run what the client can do.
func explainInterruption(end runlog.Finished) runlog.Finished {
	if end.Status == runlog.Interrupted {
		end.Error = "This run was interrupted and can't be resumed: " + end.Error + ". Its questions are withdrawn. Call the tool itself again."
	}
	return end
}
