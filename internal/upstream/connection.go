package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
)

// A connection is a session with an upstream. If the server has sessions, each has one
// owner: nobody can then be asked what concerns another's call.
type connection struct {
	session *client.Session

	// Guarded by the upstream's mu.
	owner    string // empty until somebody uses it
	calls    int
	lastUsed time.Time
	// inProgress are the calls, and turnChanged is closed, and made again, when one ends.
	inProgress  map[*callTag]struct{}
	turnChanged chan struct{}

	ready chan struct{} // closed when it is connected or has failed
	err   error         // read once ready is closed
}

// The limits of the connections of one upstream.
const (
	maxOwners     = 32               // with a connection
	idleOwnerTime = 10 * time.Minute // after which an owner's connection is closed
	acquireWait   = 30 * time.Second // how long a call waits for an upstream to be connected
	// acquireRetryWait is how soon the next attempt to connect must be for a call to wait
	// for it.
	acquireRetryWait = 2 * time.Second
)

func newConnection(owner string) *connection {
	return &connection{owner: owner, inProgress: make(map[*callTag]struct{}), turnChanged: make(chan struct{}), ready: make(chan struct{})}
}

// connect makes a connection.
func (u *Upstream) connect(ctx context.Context) (*connection, error) {
	c := newConnection("")
	return c, u.open(ctx, c)
}

// open connects c.
func (u *Upstream) open(ctx context.Context, c *connection) (err error) {
	defer close(c.ready)
	c.session, c.err = client.Connect(ctx, u.server, client.Options{
		Info: u.manager.clientInfo(), Capabilities: u.capabilities(),
		Attribute:          u.chooseCall,
		HandleNotification: u.handleNotification,
		HandleRenewed:      u.Refresh,
		HandleFault:        func(text string) { u.addEvent(&u.errors, text) },
		HandleStderr:       u.handleStderr,
		Logger:             u.manager.options.Logger,
	})
	return c.err
}

// capabilities returns what upstreams are told that this client can do: what somebody can
// be asked.
func (u *Upstream) capabilities() json.RawMessage {
	capabilities := map[string]any{}
	if u.policy.Elicitation().Enabled {
		capabilities["elicitation"] = map[string]any{"form": map[string]any{}, "url": map[string]any{}}
	}
	if u.manager.options.SamplingAvailable {
		capabilities["sampling"] = map[string]any{"tools": map[string]any{}}
	}
	if u.manager.options.RootsAvailable {
		capabilities["roots"] = map[string]any{}
	}
	raw, err := json.Marshal(capabilities)
	if err != nil {
		panic(err) // maps of texts
	}
	return raw
}

func (u *Upstream) handleStderr(line string) {
	u.addEvent(&u.stderr, line)
	u.manager.options.Logger.Info("stderr of an upstream", "upstream", u.server.Name, "line", u.clean(line))
}

// handleNotification handles what belongs to no call. It is quick, however many come.
func (u *Upstream) handleNotification(n client.Notification) {
	switch n.Method {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed":
		u.Refresh()
	case "notifications/resources/updated":
		var updated struct{ URI string }
		if json.Unmarshal(n.Params, &updated) == nil {
			u.manager.catalogue.Notify(n.Method, u.server.Name, updated.URI)
		}
	case "notifications/elicitation/complete":
		u.completeElicitation(n.Params)
	}
}

// acquire returns the connection for an owner's call, which the caller releases. It waits
// while the upstream is being connected to.
func (u *Upstream) acquire(ctx context.Context, owner string) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, acquireWait)
	defer cancel()
	main, err := u.awaitMain(ctx)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	c, isNew, err := u.chooseConnection(main, owner)
	if err != nil {
		u.mu.Unlock()
		return nil, err
	}
	c.calls++
	c.lastUsed = time.Now()
	u.mu.Unlock()
	if isNew && !u.manager.spawn(func() { u.serveOwner(c) }) {
		return nil, context.Cause(u.ctx)
	}
	select {
	case <-c.ready:
		err = c.err
	case <-ctx.Done():
		err = fmt.Errorf("the upstream %s is still connecting", u.server.Name)
	}
	if err != nil {
		u.release(c)
		return nil, err
	}
	return c, nil
}

// awaitMain returns the main connection.
func (u *Upstream) awaitMain(ctx context.Context) (*connection, error) {
	for {
		u.mu.Lock()
		main, state, err, changed := u.main, u.state, u.err, u.changed
		isSoon := time.Until(u.retryAt) < acquireRetryWait
		u.mu.Unlock()
		switch {
		case main != nil && main.session.Err() == nil:
			return main, nil
		case state == Waiting && !isSoon || state == Stopped:
			return nil, fmt.Errorf("the upstream %s is not connected: %s", u.server.Name, u.clean(fmt.Sprint(err)))
		}
		select {
		case <-changed:
		case <-u.ctx.Done():
			return nil, context.Cause(u.ctx)
		case <-ctx.Done():
			return nil, fmt.Errorf("the upstream %s is still connecting", u.server.Name)
		}
	}
}

var errManagerClosed = errors.New("this Beam is shutting down")

// chooseConnection returns the connection for an owner, which is new if the owner has
// none. A modern server has no sessions, and needs one connection for all. The caller
// holds mu.
func (u *Upstream) chooseConnection(main *connection, owner string) (c *connection, isNew bool, err error) {
	switch {
	case main.session.IsModern(), main.owner == owner:
		return main, false, nil
	case main.owner == "":
		main.owner = owner
		return main, false, nil
	case u.others[owner] != nil:
		return u.others[owner], false, nil
	}
	if len(u.others) >= maxOwners {
		idle := u.longestIdle()
		if idle == nil {
			return nil, false, fmt.Errorf("the upstream %s is in use by %d others: try again later", u.server.Name, len(u.others)+1)
		}
		delete(u.others, idle.owner)
		go closeOnceReady(idle)
	}
	c = newConnection(owner)
	u.others[owner] = c
	return c, true, nil
}

// longestIdle returns the connection of an owner without calls that was used longest ago,
// or nil. The caller holds mu.
func (u *Upstream) longestIdle() (idle *connection) {
	for _, c := range u.others {
		if c.calls == 0 && (idle == nil || c.lastUsed.Before(idle.lastUsed)) {
			idle = c
		}
	}
	return idle
}

func closeOnceReady(c *connection) {
	<-c.ready
	if c.err == nil {
		c.session.Close()
	}
}

// release ends the use of a connection.
func (u *Upstream) release(c *connection) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c.calls--
	c.lastUsed = time.Now()
}

// serveOwner connects an owner's connection and closes it once it is idle.
func (u *Upstream) serveOwner(c *connection) {
	ctx, cancel := context.WithTimeout(u.ctx, acquireWait)
	err := u.open(ctx, c)
	cancel()
	defer u.forget(c)
	if err != nil {
		u.recordError(err)
		return
	}
	defer c.session.Close()
	ticker := time.NewTicker(idleOwnerTime / 10)
	defer ticker.Stop()
	for {
		select {
		case <-c.session.Done():
			return
		case <-u.ctx.Done():
			return
		case <-ticker.C:
			if u.forgetIdle(c) {
				return
			}
		}
	}
}

// forget removes an owner's connection.
func (u *Upstream) forget(c *connection) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.others[c.owner] == c {
		delete(u.others, c.owner)
	}
}

// forgetIdle removes an owner's connection if it has been idle for long.
func (u *Upstream) forgetIdle(c *connection) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.calls > 0 || time.Since(c.lastUsed) < idleOwnerTime {
		return false
	}
	if u.others[c.owner] == c {
		delete(u.others, c.owner)
	}
	return true
}

// closeConnections closes the connections of owners.
func (u *Upstream) closeConnections() {
	u.mu.Lock()
	others := u.others
	u.others = make(map[string]*connection)
	u.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range others {
		closing.Go(func() { closeOnceReady(c) })
	}
	closing.Wait()
}
