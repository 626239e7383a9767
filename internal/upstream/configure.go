package upstream

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// ErrNotFound is the error for a name that no upstream has.
var ErrNotFound = errors.New("there is no upstream of this name")

// errRemoved ends what an upstream does that was removed or changed.
var errRemoved = errors.New("the operator removed or changed the upstream")

// Configure makes servers the upstreams: it waits until the connections to those that are
// removed or changed have ended, connects to those that are new or changed, in the
// background, and waits until that was tried or ctx ends. Upstreams that are as they were
// aren't touched. It returns why servers can't be used, by their names.
func (m *Manager) Configure(ctx context.Context, servers []config.Server) map[string]error {
	m.configuring.Lock()
	defer m.configuring.Unlock()
	var kept, ended []*Upstream
	for _, u := range m.Upstreams() {
		same := slices.ContainsFunc(servers, func(s config.Server) bool { return reflect.DeepEqual(s, u.server) })
		if same {
			kept = append(kept, u)
		} else {
			ended = append(ended, u)
		}
	}
	for _, u := range ended {
		u.cancel(errRemoved)
	}
	for _, u := range ended {
		<-u.done
	}
	problems := make(map[string]error)
	var added []*Upstream
	for _, s := range servers {
		if slices.ContainsFunc(kept, func(u *Upstream) bool { return u.server.Name == s.Name }) {
			continue
		}
		u, err := newUpstream(m, s)
		if err != nil {
			u.cancel(err)
			problems[s.Name] = err
			continue
		}
		added = append(added, u)
	}
	m.setUpstreams(append(kept, added...))
	for _, u := range added {
		u.start()
	}
	for _, u := range added {
		awaitTried(ctx, u) // or as long as the caller can wait
	}
	return problems
}

// setUpstreams sets the upstreams, in any order.
func (m *Manager) setUpstreams(all []*Upstream) {
	slices.SortFunc(all, func(a, b *Upstream) int { return strings.Compare(a.server.Name, b.server.Name) })
	m.mu.Lock()
	defer m.mu.Unlock()
	m.upstreams = all
}

// start connects to the upstream in the background.
func (u *Upstream) start() {
	started := u.manager.spawn(func() {
		defer close(u.done)
		u.run()
		if u.manager.ctx.Err() == nil { // the rest goes on without it
			u.manager.catalogue.Remove(u.server.Name)
		}
	})
	if !started {
		close(u.done)
	}
}

// PolicyOf returns the policy of the upstream whose tool a photon calls, and the tool's own
// name. It returns nil for other photons.
func (m *Manager) PolicyOf(p *generators.Photon) (policy *policy.Policy, tool string) {
	t, ok := m.catalogue.ToolOf(p)
	if !ok {
		return nil, ""
	}
	u, ok := m.Lookup(t.Server)
	if !ok {
		return nil, ""
	}
	return u.policy, t.Name
}

// Status returns what an operator sees of all upstreams, in the order of their names.
func (m *Manager) Status() []Status {
	var all []Status
	for _, u := range m.Upstreams() {
		all = append(all, u.Status())
	}
	return all
}

// Accept accepts a tool of an upstream that is held back, or all if tool is empty, and
// returns their names. If digest isn't empty, it must be that of the change that the
// operator saw. The error wraps [ErrNotFound], [ErrToolNotFound] or [ErrChangedAgain], or
// says why the decision can't be stored.
func (m *Manager) Accept(name, tool, digest string) (accepted []string, err error) {
	u, ok := m.Lookup(name)
	if !ok {
		return nil, ErrNotFound
	}
	if tool == "" {
		accepted, err = u.policy.AcceptAll()
	} else if err = u.policy.Accept(tool, digest); err == nil {
		accepted = []string{tool}
	}
	if errors.Is(err, policy.ErrToolNotFound) {
		err = fmt.Errorf("%w: %s", err, u.policy.DescribeHeld())
	}
	if tool == "" || len(accepted) > 0 {
		u.offers.offerAgain()
	}
	return accepted, err
}

// followAccepted offers the tools again of upstreams of which another process has changed what is
// accepted, until the manager is closed.
func (m *Manager) followAccepted() {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	seen := make(map[string]string)
	for {
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
		versions, err := policy.Versions(m.ctx, m.options.Policy.State)
		if err != nil {
			continue // the next time
		}
		for _, u := range m.Upstreams() {
			name := u.server.Name
			if versions[name] == seen[name] {
				continue
			}
			if err := u.policy.Reload(); err != nil {
				m.options.Logger.Error("reading what is accepted of an upstream", "upstream", name, "err", err)
				versions[name] = seen[name] // the next time
				continue
			}
			u.offers.offerAgain()
		}
		seen = versions
	}
}

// followEvery is how often what other processes accept is looked for.
const followEvery = 500 * time.Millisecond

// Reconnect ends the connection to an upstream, if there is one, and makes another at
// once. The error may be [ErrNotFound].
func (m *Manager) Reconnect(name string) error {
	u, ok := m.Lookup(name)
	if !ok {
		return ErrNotFound
	}
	u.Reconnect()
	return nil
}
