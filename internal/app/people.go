package app

import (
	"context"
	"net/netip"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/callers"
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

// openPeople reads the users and opens the audit file.
func (a *App) openPeople(c Config) (err error) {
	if c.People.Users != "" {
		if a.users, err = users.Open(c.People.Users, c.Token, c.Logger); err != nil {
			return err
		}
		watch, stop := context.WithCancel(context.Background())
		a.stopWatching = stop
		a.watchUsers = func() { go a.users.Watch(watch) }
	}
	if c.Audit == "" {
		return nil
	}
	a.audit, err = audit.Open(c.Audit, func(err error) { c.Logger.Error("writing the audit file", "err", err) })
	if err == nil {
		a.metrics.RegisterAudit(a.audit.Failures)
	}
	return err
}

// closePeople undoes openPeople.
func (a *App) closePeople() error {
	if a.stopWatching != nil {
		a.stopWatching()
	}
	return a.audit.Close()
}

// mayExist returns a function for [engine.Options]: who may answer questions here. Proxies,
// identity providers and programs that embed Beam may know anybody; the function is nil
// then.
func (a *App) mayExist(c Config) func(qualifies func(generators.Caller) bool) bool {
	if c.Identify != nil || c.People.Proxy != nil || c.People.OpenID != nil || c.OAuth != nil {
		return nil
	}
	return func(qualifies func(generators.Caller) bool) bool {
		return qualifies(callers.Operator()) || a.users != nil && a.users.Any(qualifies)
	}
}

// addPeople tells the pages who may use them.
func (a *App) addPeople(site *web.Config, c Config) {
	site.Users, site.Audit, site.TrustedProxies = a.users, a.audit, c.People.Proxies
	if p := c.People.Proxy; p != nil {
		p.Users = a.users
		site.Authenticators = append(site.Authenticators, p)
	}
	if p := c.People.OpenID; p != nil {
		config := *p
		config.Site, config.Keys = c.Site, site.Keys
		site.OpenID = openid.New(config)
	}
}
