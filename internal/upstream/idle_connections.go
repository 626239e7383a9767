package upstream

import (
	"context"
	"sync"
	"time"
)

// longestIdle returns the connection without calls that was used longest ago, or nil. The caller holds mu.
func (u *Upstream) longestIdle() (idle *connection) {
	for _, c := range u.others {
		if c.calls == 0 && (idle == nil || c.lastUsed.Before(idle.lastUsed)) {
			idle = c
		}
	}
	return idle
}

func (u *Upstream) closeOnceReady(c *connection) {
	<-c.ready
	if c.err == nil {
		u.close(c.session)
	}
}

// serveOther connects a connection and closes it once it is idle.
func (u *Upstream) serveOther(c *connection) {
	ctx, cancel := context.WithTimeout(u.ctx, acquireWait)
	err := u.open(ctx, c)
	cancel()
	defer u.forget(c)
	if err != nil {
		u.recordError(err)
		return
	}
	defer u.close(c.session)
	ticker := time.NewTicker(idleTime / 10)
	defer ticker.Stop()
	ended := c.client.Ended
	for {
		select {
		case <-c.session.Done():
			return
		case <-u.ctx.Done():
			return
		case <-ended:
			ended = nil
			if u.forgetIdle(c) {
				return
			}
		case <-ticker.C:
			if u.forgetIdle(c) {
				return
			}
		}
	}
}

// forget removes a connection.
func (u *Upstream) forget(c *connection) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.others[c.key] == c {
		delete(u.others, c.key)
	}
}

// forgetIdle removes a connection if it has been idle for long, or its client has left.
func (u *Upstream) forgetIdle(c *connection) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.calls > 0 || time.Since(c.lastUsed) < idleTime && !c.client.HasEnded() {
		return false
	}
	if u.others[c.key] == c {
		delete(u.others, c.key)
	}
	return true
}

// closeConnections closes the other connections.
func (u *Upstream) closeConnections() {
	u.mu.Lock()
	others := u.others
	u.others = make(map[connectionKey]*connection)
	u.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range others {
		closing.Go(func() { u.closeOnceReady(c) })
	}
	closing.Wait()
}
