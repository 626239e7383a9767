package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
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
	// resubscribe gets a channel for each change of the resources that are subscribed to,
	// which is closed once the server notifies of them.
	resubscribe chan chan struct{}

	offering sync.Mutex // held while tools are reviewed and registered

	mu          sync.Mutex
	changed     chan struct{} // closed, and made again, when the state changes
	state       State
	since       time.Time
	err         error
	retryAt     time.Time
	main        *connection                   // nil unless connected
	others      map[connectionKey]*connection // see acquire
	asking      map[string]bool               // whether callees are known to ask; see learnAsking
	tools       []*policy.ToolStatus          // as they were last reviewed
	collisions  error                         // of the names of its tools, as they were last listed
	errors      []Event                       // the latest
	stderr      []Event                       // the latest lines
	callCount   int64
	completions []*completion
	// completedEarly are the latest elicitations that were complete before they were asked.
	completedEarly []string
}

func newUpstream(m *Manager, server config.Server) (*Upstream, error) {
	u := &Upstream{
		manager: m, server: server, tried: make(chan struct{}), refresh: make(chan struct{}, 1), retry: make(chan struct{}, 1), resubscribe: make(chan chan struct{}),
		changed: make(chan struct{}), state: Connecting, since: time.Now(),
		others: make(map[connectionKey]*connection), asking: make(map[string]bool), done: make(chan struct{}),
	}
	u.ctx, u.cancel = context.WithCancelCause(m.ctx)
	policy, err := policy.New(server, m.options.Policy)
	if err != nil {
		return u, fmt.Errorf("upstream %s: %w", server.Name, err)
	}
	u.policy = policy
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
	defer u.closeConnections()
	defer u.isTried.Do(func() { close(u.tried) })
	for attempt := 0; u.ctx.Err() == nil; attempt++ {
		u.setState(Connecting, nil)
		connectedAt := time.Now()
		err := u.serve()
		if u.ctx.Err() != nil {
			return
		}
		u.recordError(err)
		u.manager.options.Logger.Warn("an upstream is not connected", "upstream", u.server.Name, "err", u.clean(err.Error()))
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
	c, err := u.connect(ctx)
	if err != nil {
		return err
	}
	defer u.close(c.session)
	if err := u.listTools(ctx, c.session); err != nil {
		return err
	}
	u.listOthers(ctx, c.session)
	u.setMain(c)
	defer u.setMain(nil)
	u.isTried.Do(func() { close(u.tried) })
	u.manager.spawn(func() { u.listen(c.session) })
	wait := minRefreshInterval
	for {
		select {
		case <-c.session.Done():
			return c.session.Err()
		case <-u.ctx.Done():
			return context.Cause(u.ctx)
		case <-u.refresh:
			if err := u.listTools(u.ctx, c.session); err != nil {
				u.recordError(fmt.Errorf("listing its tools again: %w", err))
			}
			u.listOthers(u.ctx, c.session)
			u.pause(wait, c.session)
			if len(u.refresh) == 0 {
				wait = minRefreshInterval
			} else { // the lists change all the time
				wait = min(2*wait, maxRefreshInterval)
			}
		}
	}
}

// close closes a session, quickly if all are being closed. Its calls fail with the reason.
func (u *Upstream) close(s *client.Session) {
	if u.ctx.Err() != nil {
		s.End(context.Cause(u.ctx))
	}
	if u.manager.ctx.Err() != nil {
		s.CloseQuickly()
		return
	}
	s.Close()
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
	u.mu.Lock()
	u.retryAt = time.Now().Add(wait)
	u.mu.Unlock()
	u.setState(Waiting, err)
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
	u.mu.Lock()
	c := u.main
	u.mu.Unlock()
	if c != nil {
		c.session.End(errors.New("the operator asked to reconnect"))
	}
	signal(u.retry)
}

// Refresh lists the tools again, after what is accepted of them has changed.
func (u *Upstream) Refresh() { signal(u.refresh) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// setState sets the state, and wakes who waits for it.
func (u *Upstream) setState(s State, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.state, u.err, u.since = s, err, time.Now()
	close(u.changed)
	u.changed = make(chan struct{})
}

// setMain sets the connection that has been made, or nil when it has ended.
func (u *Upstream) setMain(c *connection) {
	u.mu.Lock()
	u.main = c
	u.mu.Unlock()
	if c != nil {
		u.setState(Connected, nil)
	}
}

// The number of errors and lines of stderr that are kept, and their size in bytes.
const (
	maxEvents    = 50
	maxEventText = 500
)

// recordError keeps an error for the operator.
func (u *Upstream) recordError(err error) { u.addEvent(&u.errors, err.Error()) }

// addEvent adds to a list of the latest events.
func (u *Upstream) addEvent(to *[]Event, text string) {
	text = u.clean(text)
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(*to) >= maxEvents {
		*to = (*to)[1:]
	}
	*to = append(*to, Event{Time: time.Now(), Text: text})
}

// clean returns a text of the upstream as one short line, without the secrets of its
// configuration.
func (u *Upstream) clean(text string) string {
	for _, secret := range u.server.Secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return policy.CleanLine(text, maxEventText)
}

// Status returns what an operator sees of the upstream.
func (u *Upstream) Status() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := Status{
		Name: u.server.Name, Type: u.server.Type, Address: u.address(), File: u.server.File, Own: u.server.File == u.manager.options.OwnFile,
		State: u.state, Since: u.since, Ignored: u.server.Ignored, Warn: u.server.Warnings,
		Errors: append([]Event{}, u.errors...), Stderr: append([]Event{}, u.stderr...),
		OpenAsks: u.policy.OpenAsks(), Calls: u.policy.Calls(), CallCount: u.callCount,
	}
	if u.err != nil {
		s.Error = u.clean(u.err.Error())
	}
	if u.state == Waiting {
		s.RetryAt = u.retryAt
	}
	if u.main != nil {
		told := u.main.session.Server()
		s.Version, s.Info, s.Capabilities, s.Instructions = told.Version, told.Info, told.Capabilities, policy.CleanLine(told.Instructions, 4<<10)
	}
	s.Tools = make([]policy.ToolStatus, 0, len(u.tools))
	for _, t := range u.tools {
		s.Tools = append(s.Tools, *t)
	}
	return s
}

// address returns the command, or the URL without what may be secret.
func (u *Upstream) address() string {
	if u.server.URL == "" {
		return u.clean(strings.Join(append([]string{u.server.Command}, u.server.Args...), " "))
	}
	address, _, _ := strings.Cut(u.server.URL, "?")
	return u.clean(address)
}
