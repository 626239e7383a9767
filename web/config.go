package web

import (
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/connect"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/identity/openid"
	"github.com/photon-beam/beam/web/internal/upstreams"
)

// Config configures a server. Engine, Photons and Keys are required.
type Config struct {
	Engine  *engine.Engine
	Photons *registry.Registry
	Keys    identity.Keys
	// Hosts are the host names that requests may name besides those of the loopback
	// interface. Ports are not compared.
	Hosts []string
	// Token, if set, is required from every client: as a Bearer token, or from
	// browsers on the sign-in page.
	Token string
	// Identify, if set, identifies the callers of requests in place of sessions, sign-in
	// codes and the token; see [identity.Identifier].
	Identify identity.Identifier
	// Users are the people who sign in with tokens of their own; nil for none.
	Users *users.Store
	// OpenID lets people sign in with an identity provider; nil for none.
	OpenID *openid.Provider
	// Audit records who signs in, and who is refused; nil for none.
	Audit *audit.Log
	// Authenticators know further callers than those of sessions and the token. They are
	// asked first, and requests that neither they nor sessions know are refused: everyone
	// has to sign in. They are not used with Identify.
	Authenticators []callers.Authenticator
	// OAuth verifies the access tokens that MCP clients present; nil if they have none. Site
	// must then have a host.
	OAuth *oauth.Verifier
	// AllowedOrigins are the origins, besides the site's, whose pages may be MCP clients.
	AllowedOrigins []string
	// Ready returns an error while the server can't serve requests; nil if it always
	// can until it closes.
	Ready func() error
	// Sampling sends questions to configured models; nil if there are none.
	Sampling *sampling.Service
	// MCP serves the MCP endpoint; nil if there is none.
	MCP MCPHandler
	// Metrics serves the metrics; nil if there are none.
	Metrics http.Handler
	// Upstreams are the MCP servers whose tools are among Photons; nil if there are none.
	Upstreams Upstreams
	// State is what processes that serve the same site share of it; nil if there is only this one.
	State smallstate.Store
	// Version is Beam's, for the page of settings.
	Version string
	// Program is how MCP clients start this program; zero if they don't.
	Program connect.Entry
	// Site is where browsers reach the server. Requests may arrive with its path, or
	// without it, as through a proxy that removes it.
	Site links.Site
	// SignInCommand is the command that prints a sign-in address, for the sign-in page;
	// empty if there is none.
	SignInCommand string
	// TrustedProxies say which address a request comes from that one of them sends, for those
	// who present wrong credentials.
	TrustedProxies []netip.Prefix
	// Streams bounds the streams of callers; nil is a budget with the default limit.
	Streams *budget.Budget
	Logger  *slog.Logger // nil discards
}

// Upstreams are the MCP servers whose tools are photons, as operators see them.
type Upstreams = upstreams.Servers
