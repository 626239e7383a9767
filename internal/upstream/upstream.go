package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// An Upstream is one server, with a connection that is made again when it ends, and its
// tools. Its methods may be called from several goroutines.
type Upstream struct {
	manager *Manager
	ctx     context.Context // ends with the upstream
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when nothing is left of it
	server  config.Server
	policy  *policy.Policy
	tried   chan struct{} // closed once the first attempt to connect has ended
	isTried sync.Once
	refresh chan struct{} // has an element if the tools must be listed again
	retry   chan struct{} // has an element if a wait must end

	events       *events
	asking       *attribution
	questions    *questions
	connections  *connections
	offers       *offers
	subscription *subscription
	callCount    atomic.Int64
}

func newUpstream(m *Manager, server config.Server) (*Upstream, error) {
	u := &Upstream{
		manager: m, server: server, done: make(chan struct{}), tried: make(chan struct{}), refresh: make(chan struct{}, 1), retry: make(chan struct{}, 1),
	}
	u.ctx, u.cancel = context.WithCancelCause(m.ctx)
	policy, err := policy.New(server, m.options.Policy)
	if err != nil {
		return u, fmt.Errorf("upstream %s: %w", server.Name, err)
	}
	u.policy = policy
	u.events = &events{server: &u.server, logger: m.options.Logger}
	u.asking = &attribution{asks: make(map[string]bool)}
	u.questions = &questions{policy: policy, isOwnAddress: m.options.IsOwnAddress, completions: new(completions)}
	u.offers = &offers{server: server.Name, policy: policy, catalogue: m.catalogue, events: u.events}
	u.subscription = &subscription{
		server: server.Name, ctx: u.ctx, spawn: m.spawn, catalogue: m.catalogue, refresh: u.Refresh, renew: make(chan chan struct{}),
	}
	u.connections = &connections{
		server: &u.server, all: m.abilities(policy), ctx: u.ctx, program: m.ctx, spawn: m.spawn, events: u.events,
		changed: make(chan struct{}), state: Connecting, since: time.Now(), others: make(map[connectionKey]*connection),
		options: client.Options{
			Info: m.clientInfo(), Attribute: u.asking.choose, HandleNotification: u.handleNotification, HandleRenewed: u.Refresh,
			HandleFault: u.events.recordFault, HandleStderr: u.events.recordStderr, Logger: m.options.Logger,
		},
	}
	m.catalogue.Put(u.source())
	return u, nil
}

// Name returns the name of the upstream.
func (u *Upstream) Name() string { return u.server.Name }

// The waits before another attempt to connect. After a connection that lasted, the first
// of them is used again.
const (
	minReconnectWait = 250 * time.Millisecond
	maxReconnectWait = time.Minute
	stableTime       = time.Minute
	connectTimeout   = time.Minute
)

// run connects to the upstream, again and again, until it is removed or the manager is
// closed.
func (u *Upstream) run() {
	defer u.connections.closeOthers()
	defer u.isTried.Do(func() { close(u.tried) })
	for attempt := 0; u.ctx.Err() == nil; attempt++ {
		u.connections.setState(Connecting, nil)
		connectedAt := time.Now()
		err := u.serve()
		if u.ctx.Err() != nil {
			return
		}
		u.events.recordError(err)
		u.manager.options.Logger.Warn("an upstream is not connected", "upstream", u.server.Name, "err", u.events.clean(err.Error()))
		if time.Since(connectedAt) > stableTime {
			attempt = 0
		}
		u.waitToReconnect(attempt, err)
	}
}

// serve connects to the upstream and follows its list of tools until the connection ends.
func (u *Upstream) serve() error {
	ctx, cancel := context.WithTimeoutCause(u.ctx, connectTimeout, fmt.Errorf("it took more than %s to connect", connectTimeout))
	defer cancel()
	c, err := u.connections.connect(ctx)
	if err != nil {
		return err
	}
	defer u.connections.close(c.session)
	if err := u.offers.listTools(ctx, c.session); err != nil {
		return err
	}
	u.offers.listOthers(ctx, c.session)
	u.connections.setMain(c)
	defer u.connections.setMain(nil)
	u.isTried.Do(func() { close(u.tried) })
	u.manager.spawn(func() { u.subscription.listen(c.session) })
	wait := minRefreshInterval
	for {
		select {
		case <-c.session.Done():
			return c.session.Err()
		case <-u.ctx.Done():
			return context.Cause(u.ctx)
		case <-u.refresh:
			if err := u.offers.listTools(u.ctx, c.session); err != nil {
				u.events.recordError(fmt.Errorf("listing its tools again: %w", err))
			}
			u.offers.listOthers(u.ctx, c.session)
			u.pause(wait, c.session)
			if len(u.refresh) == 0 {
				wait = minRefreshInterval
			} else { // the lists change all the time
				wait = min(2*wait, maxRefreshInterval)
			}
		}
	}
}

// The least time between two lists of the tools. It grows while they change all the time.
const (
	minRefreshInterval = time.Second
	maxRefreshInterval = 30 * time.Second
)

// pause waits, until the session ends or the manager is closed.
func (u *Upstream) pause(d time.Duration, s *client.Session) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.Done():
	case <-u.ctx.Done():
	}
}

// waitToReconnect waits before the next attempt, the longer the more have failed.
func (u *Upstream) waitToReconnect(attempt int, err error) {
	wait := min(minReconnectWait<<min(attempt, 10), maxReconnectWait)
	wait += time.Duration(rand.Int64N(int64(wait)/4 + 1))
	u.connections.setWaiting(time.Now().Add(wait), err)
	u.isTried.Do(func() { close(u.tried) })
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-u.retry:
	case <-u.ctx.Done():
	}
}

// Reconnect ends the connection, if there is one, and makes another at once.
func (u *Upstream) Reconnect() {
	if s := u.connections.mainSession(); s != nil {
		s.End(errors.New("the operator asked to reconnect"))
	}
	signal(u.retry)
}

// Refresh lists the tools again, after what is accepted of them has changed.
func (u *Upstream) Refresh() { signal(u.refresh) }

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
		u.questions.completions.complete(n.Params)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Status returns what an operator sees of the upstream.
func (u *Upstream) Status() Status {
	s := Status{
		Name: u.server.Name, Type: u.server.Type, Address: u.address(), File: u.server.File, Own: u.server.File == u.manager.options.OwnFile,
		Ignored: u.server.Ignored, Warn: u.server.Warnings, Tools: u.offers.tools(),
		OpenAsks: u.policy.OpenAsks(), Calls: u.policy.Calls(), CallCount: u.callCount.Load(),
	}
	s.Errors, s.Stderr = u.events.latest()
	u.connections.addTo(&s)
	return s
}

// address returns the command, or the URL without what may be secret.
func (u *Upstream) address() string {
	if u.server.URL == "" {
		return u.events.clean(strings.Join(append([]string{u.server.Command}, u.server.Args...), " "))
	}
	address, _, _ := strings.Cut(u.server.URL, "?")
	return u.events.clean(address)
}
