package web

import (
	"slices"

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

// shared is what the parts share.
type shared struct {
	*Config
	callers  *access.Callers
	trail    *access.Trail
	site     *site.Site
	photons  *lists.Photons
	runs     *lists.Runs
	pages    *page.Renderer
	loader   *timeline.Loader
	messages *wire.Runs
	pending  *stream.Pending
}

func newShared(c *Config) *shared {
	s := &shared{
		Config: c, photons: lists.NewPhotons(c.Engine), runs: lists.NewRuns(c.Engine, c.Photons),
		messages: &wire.Runs{Engine: c.Engine, Photons: c.Photons}, pending: new(stream.Pending),
	}
	s.callers, s.trail = newCallers(c)
	s.site = newSite(c, s.callers.LocalOnly())
	s.pages = &page.Renderer{
		Engine: c.Engine, Callers: s.callers, Photons: s.photons, Runs: s.runs, Links: c.Site.Path,
		SignInCommand: c.SignInCommand, HasUpstreams: c.Upstreams != nil, Logger: c.Logger,
	}
	s.loader = &timeline.Loader{Engine: c.Engine, Models: c.Sampling.Models(), Upstream: func(photon string) string {
		if p, ok := c.Photons.Lookup(photon); ok {
			return lists.UpstreamOf(p)
		}
		return "" // there is no such photon now
	}}
	return s
}

func newParts(c *Config) *parts {
	s := newShared(c)
	path := c.Site.Path
	p := &parts{
		site: s.site,
		photons: &photons.Handlers{
			Engine: c.Engine, Lists: s.photons, Callers: s.callers, Clients: c.MCP, Upstreams: c.Upstreams, Program: c.Program, Site: s.site, Pages: s.pages,
		},
		runs:       &runs.Handlers{Engine: c.Engine, Lists: s.runs, Loader: s.loader, Messages: s.messages, Site: s.site, Pages: s.pages, Logger: c.Logger},
		contents:   content.New(c.Engine, path, s.pages),
		documents:  &manual.Handlers{Links: path, Pages: s.pages},
		settings:   &settings{version: c.Version, clients: c.MCP, site: s.site, pages: s.pages},
		monitoring: &monitoring{engine: c.Engine, callers: s.callers, metrics: c.Metrics, checkReady: c.Ready, logger: c.Logger},
	}
	p.finder = &finder{engine: c.Engine, photons: s.photons, runs: s.runs, documents: p.documents, hasModels: c.Sampling != nil, links: path, renderer: s.pages}
	p.addAsks(s)
	if c.Upstreams != nil {
		p.upstreams = &upstreams.Handlers{Servers: c.Upstreams, Links: path, Pages: s.pages}
	}
	p.streams = stream.New(stream.Config{
		Engine: c.Engine, Callers: s.callers, Loader: s.loader, Messages: s.messages, Pending: s.pending, Budget: c.Streams,
		Lists: p.updatedLists(), Site: s.site, Pages: s.pages, Logger: c.Logger,
	})
	p.addLogin(s)
	if c.MCP != nil {
		p.mcp = &mcpEndpoint{handler: c.MCP, site: s.site}
	}
	return p
}

func (p *parts) addAsks(s *shared) {
	views := &asks.Views{
		Engine: s.Engine, Loader: s.loader, Sampling: s.Sampling, OwnSignIn: s.callers.OwnSignIn, Links: s.Site.Path, Pages: s.pages, Logger: s.Logger,
	}
	p.asks, p.answers = &asks.Handlers{Views: views}, &asks.Answers{Views: views, Pending: s.pending}
	if s.Sampling != nil {
		p.sampling = &asks.Sampling{Views: views, Pending: s.pending}
	}
}

// addLogin adds what finds out who sends a request.
func (p *parts) addLogin(s *shared) {
	p.login = &login.Handlers{
		Engine: s.Engine, Callers: s.callers, Trail: s.trail, OpenID: s.OpenID, Links: s.Site.Path, Pages: s.pages, Logger: s.Logger,
		SignOuts: access.NewSignOuts(s.State, func(browser string) {
			p.streams.Disconnect(browser)
			s.callers.Live.Recheck() // who has signed out everywhere
		}),
	}
	p.adapter = &adapter{callers: s.callers, trail: s.trail, login: p.login, site: s.site, pages: s.pages, logger: s.Logger}
	if s.OAuth != nil {
		p.adapter.clients = &access.Clients{Callers: s.callers, Verifier: s.OAuth, Trail: s.trail, Site: s.Site}
	}
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
		Throttle: signin.New(c.Logger), TrustedProxies: c.TrustedProxies, Users: c.Users, Codes: identity.NewSignInCodes(c.State), Token: sessions.Token(),
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
		"home":      {}, // it has none
		"runs":      {Patches: p.runs.Patches},
		"asks":      {Patches: p.asks.ListPatches},
		"ask":       {Patches: p.asks.Patches},
		"upstreams": {Patches: p.upstreams.Patches, OfOperators: true, Interval: upstreams.Interval},
	}
}
