package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/runpause"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// A connection is a session with an upstream. If the server has sessions, each is used for
// one connectionKey: nobody can then be asked what concerns another's call.
type connection struct {
	session *client.Session

	// Guarded by the mu of the upstream's connections.
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

// connections are those to one upstream: a main one, which [Upstream.run] makes, and others. The
// methods may be called concurrently.
type connections struct {
	server  *config.Server
	options client.Options          // of each session, but for its capabilities
	all     clientsession.Abilities // what somebody can be asked
	ctx     context.Context         // ends with the upstream
	program context.Context         // ends with all upstreams
	spawn   func(func()) bool       // see Manager.spawn
	events  *events

	mu      sync.Mutex
	changed chan struct{} // closed, and made again, when the state changes
	state   State
	since   time.Time
	err     error
	retryAt time.Time
	main    *connection                   // nil unless connected
	others  map[connectionKey]*connection // see acquire
}

// abilities returns what the upstream may ask during the calls of a client: what somebody
// can be asked or, if nobody else is, what that client can be.
func (cs *connections) abilities(c clientsession.Client) clientsession.Abilities {
	if c.Only != nil {
		return cs.all.And(*c.Only)
	}
	return cs.all
}

// setState sets the state, and wakes who waits for it.
func (cs *connections) setState(s State, err error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.state, cs.err, cs.since = s, err, time.Now()
	close(cs.changed)
	cs.changed = make(chan struct{})
}

// setWaiting notes that an attempt failed, and when the next one is.
func (cs *connections) setWaiting(retryAt time.Time, err error) {
	cs.mu.Lock()
	cs.retryAt = retryAt
	cs.mu.Unlock()
	cs.setState(Waiting, err)
}

// setMain sets the connection that has been made, or nil when it has ended.
func (cs *connections) setMain(c *connection) {
	cs.mu.Lock()
	cs.main = c
	cs.mu.Unlock()
	if c != nil {
		cs.setState(Connected, nil)
	}
}

// addTo adds to a status what the upstream is doing, and what it says of itself.
func (cs *connections) addTo(s *Status) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	s.State, s.Since = cs.state, cs.since
	if cs.err != nil {
		s.Error = cs.events.clean(cs.err.Error())
	}
	if cs.state == Waiting {
		s.RetryAt = cs.retryAt
	}
	if cs.main != nil {
		told := cs.main.session.Server()
		s.Version, s.Info, s.Capabilities, s.Instructions = told.Version, told.Info, told.Capabilities, policy.CleanLine(told.Instructions, 4<<10)
	}
}

// mainSession returns the session of the main connection; nil if there is none.
func (cs *connections) mainSession() *client.Session {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.main == nil {
		return nil
	}
	return cs.main.session
}

// connect makes a connection.
func (cs *connections) connect(ctx context.Context) (*connection, error) {
	c := newConnection(connectionKey{declared: cs.abilities(clientsession.Client{})}, clientsession.Client{})
	return c, cs.open(ctx, c)
}

// open connects c.
func (cs *connections) open(ctx context.Context, c *connection) (err error) {
	defer close(c.ready)
	options := cs.options
	options.Capabilities = encodeCapabilities(c.key.declared)
	c.session, c.err = client.Connect(ctx, cs.server.Target, options)
	return c.err
}

// acquire returns the connection for a call of an owner's client, which the caller releases.
// It waits while the upstream is being connected to.
func (cs *connections) acquire(ctx context.Context, owner string, by clientsession.Client) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, acquireWait)
	defer cancel()
	main, err := cs.awaitMain(ctx)
	if err != nil {
		return nil, err
	}
	cs.mu.Lock()
	c, isNew, err := cs.choose(main, owner, by)
	if err != nil {
		cs.mu.Unlock()
		return nil, err
	}
	c.calls++
	c.lastUsed = time.Now()
	cs.mu.Unlock()
	if isNew && !cs.spawn(func() { cs.serveOther(c) }) {
		return nil, context.Cause(cs.ctx)
	}
	if isNew || !c.isReady() {
		defer runpause.Begin(ctx, cs.describeConnecting())()
	}
	select {
	case <-c.ready:
		err = c.err
	case <-ctx.Done():
		err = fmt.Errorf("the upstream %s is still connecting", cs.server.Name)
	}
	if err != nil {
		cs.release(c)
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

func (cs *connections) describeConnecting() string {
	return fmt.Sprintf("Waits until Beam is connected to the server %s", cs.server.Name)
}

// awaitMain returns the main connection.
func (cs *connections) awaitMain(ctx context.Context) (*connection, error) {
	endPause := func() {}
	defer func() { endPause() }()
	for isFirst := true; ; isFirst = false {
		cs.mu.Lock()
		main, state, err, changed := cs.main, cs.state, cs.err, cs.changed
		isSoon := time.Until(cs.retryAt) < acquireRetryWait
		cs.mu.Unlock()
		switch {
		case main != nil && main.session.Err() == nil:
			return main, nil
		case state == Waiting && !isSoon || state == Stopped:
			return nil, fmt.Errorf("the upstream %s is not connected: %s", cs.server.Name, cs.events.clean(fmt.Sprint(err)))
		}
		if isFirst {
			endPause = runpause.Begin(ctx, cs.describeConnecting())
		}
		select {
		case <-changed:
		case <-cs.ctx.Done():
			return nil, context.Cause(cs.ctx)
		case <-ctx.Done():
			return nil, fmt.Errorf("the upstream %s is still connecting", cs.server.Name)
		}
	}
}

var errManagerClosed = errors.New("this Beam is shutting down")

// choose returns the connection for an owner's client, which is new if there is
// none. A modern server has no sessions, and needs one connection for all. The caller
// holds mu.
func (cs *connections) choose(main *connection, owner string, by clientsession.Client) (c *connection, isNew bool, err error) {
	want := connectionKey{owner: owner, session: by.Session, declared: cs.abilities(by)}
	if main.session.TellsCalls() {
		want.session = ""
	}
	if main.session.IsModern() {
		return main, false, nil
	}
	for ; ; want.number++ {
		c := cs.others[want]
		if main.key == want || c == nil && main.isFreeFor(want) {
			c = main
		}
		if c == nil {
			break
		}
		if c.calls > 0 && cs.server.Parallel == config.ParallelSeparate {
			continue
		}
		if c == main {
			main.key, main.client = want, by
		}
		return c, false, nil
	}
	if len(cs.others) >= maxOthers {
		idle := cs.longestIdle()
		if idle == nil {
			return nil, false, fmt.Errorf("the upstream %s is in use by %d others: try again later", cs.server.Name, len(cs.others)+1)
		}
		delete(cs.others, idle.key)
		go cs.closeOnceReady(idle)
	}
	c = newConnection(want, by)
	cs.others[want] = c
	return c, true, nil
}

// isFreeFor reports whether a connection can be used for a key from now on: nobody uses it,
// or its owner did in a session that has ended. The caller holds the mu of the connections.
func (c *connection) isFreeFor(key connectionKey) bool {
	isLeft := c.key.owner == key.owner && c.calls == 0 && c.client.HasEnded()
	return c.key.declared == key.declared && (c.key.owner == "" || isLeft)
}

// release ends the use of a connection.
func (cs *connections) release(c *connection) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.calls--
	c.lastUsed = time.Now()
}
