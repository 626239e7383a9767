package web

import (
	"net/http"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/signin"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/internal/access"
	"github.com/photon-beam/beam/web/internal/asks"
	"github.com/photon-beam/beam/web/internal/content"
	"github.com/photon-beam/beam/web/internal/lists"
	"github.com/photon-beam/beam/web/internal/login"
	"github.com/photon-beam/beam/web/internal/manual"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/photons"
	"github.com/photon-beam/beam/web/internal/runs"
	"github.com/photon-beam/beam/web/internal/site"
	"github.com/photon-beam/beam/web/internal/stream"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
	"github.com/photon-beam/beam/web/internal/upstreams"
	"github.com/photon-beam/beam/web/internal/wire"
)

// The parts of a server: the handlers of each subject. Those of subjects that the server
// doesn't have are nil.
type parts struct {
	adapter    *adapter
	site       *site.Site
	photons    *photons.Handlers
	runs       *runs.Handlers
	asks       *asks.Handlers
	answers    *asks.Answers
	sampling   *asks.Sampling
	streams    *stream.Handlers
	contents   *content.Handlers
	documents  *manual.Handlers
	upstreams  *upstreams.Handlers
	login      *login.Handlers
	finder     *finder
	settings   *settings
	monitoring *monitoring
	mcp        *mcpEndpoint
}

func newParts(c *Config) *parts {
	known, trail := newCallers(c)
	p := &parts{site: newSite(c, known.LocalOnly())}
	path := c.Site.Path
	photonList, runList := lists.NewPhotons(c.Engine), lists.NewRuns(c.Engine, c.Photons)
	pages := &page.Renderer{
		Engine: c.Engine, Callers: known, Photons: photonList, Runs: runList, Links: path,
		SignInCommand: c.SignInCommand, HasUpstreams: c.Upstreams != nil, Logger: c.Logger,
	}
	loader := &timeline.Loader{Engine: c.Engine, Models: c.Sampling.Models(), Upstream: func(photon string) string {
		if p, ok := c.Photons.Lookup(photon); ok {
			return lists.UpstreamOf(p)
		}
		return "" // there is no such photon now
	}}
	messages := &wire.Runs{Engine: c.Engine, Photons: c.Photons}
	pending := new(stream.Pending)
	views := &asks.Views{Engine: c.Engine, Loader: loader, Sampling: c.Sampling, OwnSignIn: known.OwnSignIn, Links: path, Pages: pages, Logger: c.Logger}
	p.asks, p.answers = &asks.Handlers{Views: views}, &asks.Answers{Views: views, Pending: pending}
	if c.Sampling != nil {
		p.sampling = &asks.Sampling{Views: views, Pending: pending}
	}
	p.runs = &runs.Handlers{Engine: c.Engine, Lists: runList, Loader: loader, Messages: messages, Site: p.site, Links: path, Pages: pages, Logger: c.Logger}
	if c.Upstreams != nil {
		p.upstreams = &upstreams.Handlers{Servers: c.Upstreams, Links: path, Pages: pages}
	}
	p.streams = stream.New(stream.Config{
		Engine: c.Engine, Callers: known, Loader: loader, Messages: messages, Pending: pending, Budget: c.Streams,
		Lists: p.updatedLists(), Site: p.site, Pages: pages, Logger: c.Logger,
	})
	p.photons = &photons.Handlers{
		Engine: c.Engine, Lists: photonList, Callers: known, Clients: c.MCP, Upstreams: c.Upstreams, Program: c.Program, Site: p.site, Links: path, Pages: pages,
	}
	p.contents = content.New(c.Engine, path, pages)
	p.documents = &manual.Handlers{Links: path, Pages: pages}
	p.login = &login.Handlers{Engine: c.Engine, Callers: known, Trail: trail, OpenID: c.OpenID, Links: path, Pages: pages, Disconnect: p.streams.Disconnect, Logger: c.Logger}
	p.finder = &finder{engine: c.Engine, photons: photonList, runs: runList, documents: p.documents, hasModels: c.Sampling != nil, links: path, renderer: pages}
	p.settings = &settings{version: c.Version, clients: c.MCP, site: p.site, links: path, pages: pages}
	p.monitoring = &monitoring{engine: c.Engine, callers: known, metrics: c.Metrics, checkReady: c.Ready, logger: c.Logger}
	p.adapter = &adapter{callers: known, trail: trail, login: p.login, site: p.site, links: path, pages: pages, logger: c.Logger}
	if c.MCP != nil {
		p.mcp = &mcpEndpoint{handler: c.MCP, site: p.site}
	}
	if c.OAuth != nil {
		p.adapter.clients = &access.Clients{Callers: known, Verifier: c.OAuth, Trail: trail, Site: c.Site}
	}
	return p
}

func newSite(c *Config, localOnly bool) *site.Site {
	s := &site.Site{Site: c.Site, Hosts: c.Hosts, AllowedOrigins: c.AllowedOrigins, LocalOnly: localOnly}
	if host := c.Site.Host(); host != "" {
		s.Hosts = append(slices.Clip(s.Hosts), host)
	}
	return s
}

// newCallers returns who sends requests, and the trail that they leave.
func newCallers(c *Config) (*access.Callers, *access.Trail) {
	who := access.Config{Keys: c.Keys, Token: c.Token, Identify: c.Identify, Users: c.Users, HasProvider: c.OpenID != nil, Authenticators: c.Authenticators}
	sessions := identity.NewSessions(identity.SessionConfig{
		Keys: c.Keys, Token: c.Token, Users: usersOrNil(c.Users), Persons: c.OpenID != nil, Required: who.RequiresSignIn(), Site: c.Site,
	})
	known := access.NewCallers(who, sessions, &access.Attempts{
		Throttle: signin.New(c.SignInAttempts, c.Logger), TrustedProxies: c.TrustedProxies, Users: c.Users, Codes: identity.NewSignInCodes(), Token: sessions.Token(),
	})
	trail := &access.Trail{Log: c.Audit, TrustedProxies: c.TrustedProxies}
	if c.Users != nil {
		c.Users.OnChange(func(changes users.Changes) {
			trail.UsersChanged(changes)
			known.Live.Recheck()
		})
	}
	return known, trail
}

// usersOrNil returns a nil interface for no users.
func usersOrNil(s *users.Store) identity.Users {
	if s == nil {
		return nil
	}
	return s
}

// updatedLists returns the lists that pages keep up to date. The list of runs and the inbox are
// those of the page's own query; the page of one question has just that.
func (p *parts) updatedLists() map[string]stream.List {
	return map[string]stream.List{
		"home":      {Patches: func(*http.Request, generators.Caller) func() []ui.Patch { return func() []ui.Patch { return nil } }},
		"runs":      {Patches: p.runs.Patches},
		"asks":      {Patches: p.asks.ListPatches},
		"ask":       {Patches: p.asks.Patches},
		"upstreams": {Patches: p.upstreams.Patches, OfOperators: true, Interval: upstreams.Interval},
	}
}
