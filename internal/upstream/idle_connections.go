package upstream

import (
	"context"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
)

// longestIdle returns the connection without calls that was used longest ago, or nil. The caller holds mu.
func (cs *connections) longestIdle() (idle *connection) {
	for _, c := range cs.others {
		if c.calls == 0 && (idle == nil || c.lastUsed.Before(idle.lastUsed)) {
			idle = c
		}
	}
	return idle
}

func (cs *connections) closeOnceReady(c *connection) {
	<-c.ready
	if c.err == nil {
		cs.close(c.session)
	}
}

// serveOther connects a connection and closes it once it is idle.
func (cs *connections) serveOther(c *connection) {
	ctx, cancel := context.WithTimeout(cs.ctx, acquireWait)
	err := cs.open(ctx, c)
	cancel()
	defer cs.forget(c)
	if err != nil {
		cs.events.recordError(err)
		return
	}
	defer cs.close(c.session)
	ticker := time.NewTicker(idleTime / 10)
	defer ticker.Stop()
	ended := c.client.Ended
	for {
		select {
		case <-c.session.Done():
			return
		case <-cs.ctx.Done():
			return
		case <-ended:
			ended = nil
			if cs.forgetIdle(c) {
				return
			}
		case <-ticker.C:
			if cs.forgetIdle(c) {
				return
			}
		}
	}
}

// forget removes a connection.
func (cs *connections) forget(c *connection) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.others[c.key] == c {
		delete(cs.others, c.key)
	}
}

// forgetIdle removes a connection if it has been idle for long, or its client has left.
func (cs *connections) forgetIdle(c *connection) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.calls > 0 || time.Since(c.lastUsed) < idleTime && !c.client.HasEnded() {
		return false
	}
	if cs.others[c.key] == c {
		delete(cs.others, c.key)
	}
	return true
}

// closeOthers closes the other connections.
func (cs *connections) closeOthers() {
	cs.mu.Lock()
	others := cs.others
	cs.others = make(map[connectionKey]*connection)
	cs.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range others {
		closing.Go(func() { cs.closeOnceReady(c) })
	}
	closing.Wait()
}

// close closes a session, quickly if all are being closed. Its calls fail with the reason.
func (cs *connections) close(s *client.Session) {
	if cs.ctx.Err() != nil {
		s.End(context.Cause(cs.ctx))
	}
	if cs.program.Err() != nil {
		s.CloseQuickly()
		return
	}
	s.Close()
}
