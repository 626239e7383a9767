package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/runpause"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// A connection is a session with an upstream. If the server has sessions, each is used for
// one connectionKey: nobody can then be asked what concerns another's call.
type connection struct {
	session *client.Session

	// Guarded by the upstream's mu.
	key      connectionKey
	client   clientsession.Client // that uses it
	calls    int
	lastUsed time.Time
	// turns are the calls that follow each other. That of the first is closed, unless it didn't
	// wait.
	turns []chan struct{}

	ready chan struct{} // closed when it is connected or has failed
	err   error         // read once ready is closed
}

// A connectionKey says for whose calls a connection is.
type connectionKey struct {
	owner string // empty until somebody uses it
	// session is the session of the owner's client. It is empty if that has none, or if the
	// server tells which call a question belongs to.
	session string
	// declared is what the server was told that can be asked. It can't change later.
	declared clientsession.Abilities
	// number tells connections apart that are there for calls at once.
	number int
}

// The limits of the connections of one upstream.
const (
	maxOthers   = 32               // connections besides the main one
	idleTime    = 10 * time.Minute // after which such a connection is closed
	acquireWait = 30 * time.Second // how long a call waits for an upstream to be connected
	// acquireRetryWait is how soon the next attempt to connect must be for a call to wait
	// for it.
	acquireRetryWait = 2 * time.Second
)

func newConnection(key connectionKey, c clientsession.Client) *connection {
	return &connection{key: key, client: c, ready: make(chan struct{})}
}

// connect makes a connection.
func (u *Upstream) connect(ctx context.Context) (*connection, error) {
	c := newConnection(connectionKey{declared: u.abilities(clientsession.Client{})}, clientsession.Client{})
	return c, u.open(ctx, c)
}

// open connects c.
func (u *Upstream) open(ctx context.Context, c *connection) (err error) {
	defer close(c.ready)
	c.session, c.err = client.Connect(ctx, u.server.Target, client.Options{
		Info: u.manager.clientInfo(), Capabilities: encodeCapabilities(c.key.declared),
		Attribute:          u.chooseCall,
		HandleNotification: u.handleNotification,
		HandleRenewed:      u.Refresh,
		HandleFault:        func(text string) { u.addEvent(&u.errors, text) },
		HandleStderr:       u.handleStderr,
		Logger:             u.manager.options.Logger,
	})
	return c.err
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

// acquire returns the connection for a call of an owner's client, which the caller releases.
// It waits while the upstream is being connected to.
func (u *Upstream) acquire(ctx context.Context, owner string, by clientsession.Client) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, acquireWait)
	defer cancel()
	main, err := u.awaitMain(ctx)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	c, isNew, err := u.chooseConnection(main, owner, by)
	if err != nil {
		u.mu.Unlock()
		return nil, err
	}
	c.calls++
	c.lastUsed = time.Now()
	u.mu.Unlock()
	if isNew && !u.manager.spawn(func() { u.serveOther(c) }) {
		return nil, context.Cause(u.ctx)
	}
	if isNew || !c.isReady() {
		defer runpause.Begin(ctx, u.describeConnecting())()
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

// isReady reports whether the attempt to connect has ended.
func (c *connection) isReady() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}

func (u *Upstream) describeConnecting() string {
	return fmt.Sprintf("Waits until Beam is connected to the server %s", u.server.Name)
}

// awaitMain returns the main connection.
func (u *Upstream) awaitMain(ctx context.Context) (*connection, error) {
	endPause := func() {}
	defer func() { endPause() }()
	for isFirst := true; ; isFirst = false {
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
		if isFirst {
			endPause = runpause.Begin(ctx, u.describeConnecting())
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

// chooseConnection returns the connection for an owner's client, which is new if there is
// none. A modern server has no sessions, and needs one connection for all. The caller
// holds mu.
func (u *Upstream) chooseConnection(main *connection, owner string, by clientsession.Client) (c *connection, isNew bool, err error) {
	want := connectionKey{owner: owner, session: by.Session, declared: u.abilities(by)}
	if main.session.TellsCalls() {
		want.session = ""
	}
	if main.session.IsModern() {
		return main, false, nil
	}
	for ; ; want.number++ {
		c := u.others[want]
		if main.key == want || c == nil && main.isFreeFor(want) {
			c = main
		}
		if c == nil {
			break
		}
		if c.calls > 0 && u.server.Parallel == config.ParallelSeparate {
			continue
		}
		if c == main {
			main.key, main.client = want, by
		}
		return c, false, nil
	}
	if len(u.others) >= maxOthers {
		idle := u.longestIdle()
		if idle == nil {
			return nil, false, fmt.Errorf("the upstream %s is in use by %d others: try again later", u.server.Name, len(u.others)+1)
		}
		delete(u.others, idle.key)
		go u.closeOnceReady(idle)
	}
	c = newConnection(want, by)
	u.others[want] = c
	return c, true, nil
}

// isFreeFor reports whether a connection can be used for a key from now on: nobody uses it,
// or its owner did in a session that has ended. The caller holds the upstream's mu.
func (c *connection) isFreeFor(key connectionKey) bool {
	isLeft := c.key.owner == key.owner && c.calls == 0 && c.client.HasEnded()
	return c.key.declared == key.declared && (c.key.owner == "" || isLeft)
}

// release ends the use of a connection.
func (u *Upstream) release(c *connection) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c.calls--
	c.lastUsed = time.Now()
}
