package app

import (
	"context"
	"errors"
	"net/netip"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/trustedproxy"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity/openid"
)

// People says who may use an app, besides its operator.
type People struct {
	Users  string               // the file of users; empty for none
	Proxy  *trustedproxy.Header // names people; nil for none
	OpenID *openid.Config       // the identity provider, without Site and Keys; nil for none
	// Proxies are the proxies that are believed about whom they forward a request for.
	Proxies []netip.Prefix
}

// Known reports whether people have to sign in.
func (p *People) Known() bool {
	return p.Users != "" || p.Proxy != nil || p.OpenID != nil
}

// people are the files about who may use an app, and about what they do.
type people struct {
	users  *users.Store // nil for none
	audit  *audit.Log   // nil for none
	cancel func()       // ends watching the file of users; nil for none
	watch  func()       // starts to watch it; nil for none
}

// openPeople reads the users and opens the audit file.
func openPeople(c Config, meter *metrics.Metrics) (p *people, err error) {
	p = &people{}
	if c.People.Users != "" {
		if p.users, err = users.Open(c.People.Users, c.Token, c.Logger); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		p.cancel, p.watch = cancel, func() { go p.users.Watch(ctx) }
	}
	if c.Audit == "" {
		return p, nil
	}
	if p.audit, err = audit.Open(c.Audit, func(err error) { c.Logger.Error("writing the audit file", "err", err) }); err != nil {
		return nil, errors.Join(err, p.close())
	}
	meter.RegisterAudit(p.audit.Failures)
	return p, nil
}

// watchUsers calls changed when the users change, from now on.
func (p *people) watchUsers(changed func()) {
	if p.watch != nil {
		p.users.OnChange(func(users.Changes) { changed() })
		p.watch()
	}
}

// close undoes openPeople.
func (p *people) close() error {
	if p.cancel != nil {
		p.cancel()
	}
	return p.audit.Close()
}

// mayExist returns a function for [engine.Options]: who may answer questions here. Proxies,
// identity providers and programs that embed Beam may know anybody; the function is nil
// then.
func (p *people) mayExist(c Config) func(qualifies func(generators.Caller) bool) bool {
	if c.Identify != nil || c.People.Proxy != nil || c.People.OpenID != nil || c.OAuth != nil {
		return nil
	}
	return func(qualifies func(generators.Caller) bool) bool {
		return qualifies(callers.Operator()) || p.users != nil && p.users.Any(qualifies)
	}
}

// addTo tells the pages who may use them.
func (p *people) addTo(site *web.Config, c Config) {
	site.Users, site.Audit, site.TrustedProxies = p.users, p.audit, c.People.Proxies
	if proxy := c.People.Proxy; proxy != nil {
		proxy.Users = p.users
		site.Authenticators = append(site.Authenticators, proxy)
	}
	if c.People.OpenID != nil {
		config := *c.People.OpenID
		config.Site, config.Keys = c.Site, site.Keys
		site.OpenID = openid.New(config)
	}
}
