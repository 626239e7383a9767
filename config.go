package beam

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"go.opentelemetry.io/otel/trace"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/store"
)

// A Config says what a [Beam] serves, to whom and how. The zero value serves no photons,
// keeps runs in memory, and serves only this machine.
type Config struct {
	// Photons are the tools.
	Photons []*generators.Photon

	// URL is where browsers and MCP clients reach the Beam, such as
	// "https://tools.example/beam", or the path alone, such as "/beam", if only that is
	// known; empty means the root of an unknown host. It determines links, redirects and
	// the path of cookies, and, if it is complete, the addresses of questions and
	// artifacts that leave the pages, the permitted host and origin, and whether cookies
	// require TLS. Requests are taken with the path and without it, so it makes no
	// difference whether a proxy or [net/http.StripPrefix] removes it.
	URL string

	// Identify returns who sends a request, from a page or from an MCP client. The Beam
	// then has no sessions, cookies, tokens or sign-in page of its own. A Caller's ID
	// identifies the person or program for as long as its runs are kept. IDs that Beam
	// uses itself, and those that [Caller] doesn't allow, fail the request with status
	// 500, as the log says. If Identify returns an error, the response has status 401
	// or, if it is [ErrForbidden], 403; it doesn't say more. Identify is called for each
	// request, from several goroutines at once, and must not read the request's body.
	//
	// With neither Identify nor Token, the Beam can't tell who sends a request. It then
	// serves only requests that arrive over the loopback interface and that no proxy
	// forwarded, and responds to others with status 403. It can't recognize a proxy that
	// adds no header, so it must not be behind one; New refuses a URL whose host is
	// another than the loopback interface.
	Identify func(*http.Request) (Caller, error)

	// Token is required from everyone who sends a request, unless Identify is set: from
	// programs in the header Authorization, as a Bearer token, and from browsers on the
	// sign-in page. All who have it are one caller. It has at least 16 bytes.
	Token string

	// Hosts are the names of hosts that requests may be for, without ports, besides those
	// of the loopback interface and the one in URL. The ports of requests are not compared.
	Hosts []string

	// OAuth accepts access tokens from MCP clients, besides what Identify or Token know. It
	// requires a complete URL: tokens must be for the address of /mcp there.
	OAuth OAuth

	// AllowOrigins are origins of other sites, such as "https://client.example", whose
	// pages may be MCP clients. They can't use cookies, or anything but the MCP endpoints.
	AllowOrigins []string

	// Data is the folder that stores runs and their questions, uploaded files, and the
	// keys of browser sessions. New creates it with mode 0700 if it doesn't exist. One
	// Beam at a time can have it. If Data is empty, runs are kept in memory and end with
	// the Beam.
	Data string

	// Store is a PostgreSQL database, as postgres://user@host/name, that has what Data would have,
	// for any number of replicas; see docs/replicas.md. It requires Data, a folder of each replica's
	// own, and SecretsKeyFile, the file of 32 random bytes that encrypt keys in the database.
	Store, SecretsKeyFile string

	// SyncAlways syncs everything that is recorded to disk before it takes effect. Otherwise,
	// that is so for answers, approvals, steps and starts of durable runs, and a power failure
	// can lose what else was recorded in the last second; ending the program loses nothing
	// either way.
	SyncAlways bool

	// Root is the folder that photons may read; see [generators.Root]. If it is empty,
	// they can't read any.
	Root string

	// Upstreams are files that name other MCP servers, as MCP clients have them
	// (mcpServers). The Beam connects to them, and offers their tools as photons named
	// SERVER__TOOL.
	Upstreams []string

	// Models is a file of models that tools may ask once a person has approved what is
	// sent; empty for none. See docs/sampling.md.
	Models string

	// Limits bound what runs may use.
	Limits Limits

	// Asks says what to do with questions that an MCP client can't show.
	Asks AskPolicy

	// MCP, if it is set, is called once, before anything is served, with the server of
	// the library mcp-go. It can add prompts, resources, resource templates and
	// completions by the library's own API; a [server.ServerOption] is applied by
	// calling it. They can change later, too: clients are notified of changed lists and
	// resources. Tools are Photons: New returns an error if MCP adds a tool. What MCP
	// adds is served to everyone who may use the Beam; the context of a handler is that
	// of the request.
	MCP func(*server.MCPServer)

	// Logger gets what an operator should know. Nil discards it.
	Logger *slog.Logger

	// TracerProvider makes the spans of runs, questions and requests. Nil makes none. The
	// caller shuts it down, after the Beam.
	TracerProvider trace.TracerProvider
}

// OAuth says whose access tokens the MCP endpoints of a [Beam] accept, as an OAuth 2.1
// resource server (MCP, Authorization). MCP clients then need credentials, also on this
// machine. A person's ID as [Caller] consists of the issuer and the subject of the token.
// The zero value accepts no access tokens.
type OAuth struct {
	// Issuer is the URL of the authorization server, exactly as its metadata has it.
	Issuer string
	// Scopes are those that each token must have.
	Scopes []string
	// Roles is the claim that lists a caller's roles, such as "roles" or
	// "realm_access.roles". If it is empty, callers have none.
	Roles string
	// ClientID and ClientSecret are the Beam's own at the authorization server, to ask it
	// about tokens that aren't JWTs (RFC 7662). Without them, such tokens are refused.
	ClientID, ClientSecret string
}

// Limits bound what the runs of a [Beam] use. A field that is zero means its default.
type Limits struct {
	// EvictAfter is how long a durable run that waits for an answer stays in memory; its
	// answer resumes it. The default is 10 minutes.
	EvictAfter time.Duration
	// MaxResident is the number of such runs in memory. The default is 250.
	MaxResident int
	// ReplayAlways evicts each durable run as soon as it waits, so that every answer
	// replays it. It is for development: it shows at once what a replay does otherwise
	// after a restart, or after hours.
	ReplayAlways bool
	// KeepFor is how long finished runs are kept. The default is 7 days. Waiting runs are
	// never deleted.
	KeepFor time.Duration
	// KeepEach is the number of finished runs that are kept for one owner. The default is
	// 1,000.
	KeepEach int
	// KeepAll is the number of finished runs that are kept in all. The default is 20,000.
	KeepAll int
	// KeepBytes is the space, in bytes, that finished runs and their files may take. By
	// default there is no limit.
	KeepBytes int64
	// Working bounds the runs that work at once; runs that wait or sleep don't count. The
	// default is 500 of an owner, and 2,000 in all.
	Working Budget
	// Streams bounds the streams and calls that are open over HTTP. The default is 1,000
	// of a caller, and 4,000 in all.
	Streams Budget
	// Uploads bounds the files that are uploaded at once. The default is 16 by a caller,
	// and 64 in all.
	Uploads Budget
	// Disk bounds the space, in bytes, that files, artifacts and large results take. The
	// default is 32 GiB for the runs of an owner, and 128 GiB in all.
	Disk Budget
}

// A Budget bounds what is in use at once: Each of one caller, and All in all. Zero means
// the default. What exceeds a caller's share is refused with status 429, what exceeds the
// whole with 503, and over MCP with an error. Browsers that have not signed in share half
// of the whole.
type Budget struct{ Each, All int64 }

// An AskPolicy says what a [Beam] does with a question that an MCP client can't show, or
// doesn't answer. The zero value is the default.
type AskPolicy struct {
	// NoLink ends the tool with an error if the client can't show a question. Otherwise
	// the client gets the address of Beam's page, where the question can be answered;
	// the tool waits. Over stdio, that requires a complete Config.URL.
	NoLink bool
	// Handoff is how long a call whose client was asked waits for an answer before it
	// returns the address and a handle, with which the client's model can continue it
	// later. The default is 45 seconds; if it is negative, the call waits until it has
	// the answer. A call whose client can't show the question returns after a second, if
	// Handoff isn't shorter or negative.
	Handoff time.Duration
	// KeepAlive is how often a call that waits reports progress, for clients that would
	// time out otherwise. The default is 15 seconds; if it is negative, it reports none.
	KeepAlive time.Duration
	// AppsDestructive lets questions that confirm what can't be undone (ask.Destructive)
	// be answered in the chat of a client that shows MCP Apps, where nobody proves who
	// answers. Otherwise they are answered on Beam's page.
	AppsDestructive bool
}

// minToken is the length of the shortest token, in bytes.
const minToken = 16

// validate returns what is wrong with c, and the site in its URL.
func (c *Config) validate() (links.Site, error) {
	site, err := links.ParseSite(c.URL)
	if err != nil {
		err = fmt.Errorf("Config.URL is not a URL of Beam: %w", err) // without the URL, which may hold a password
	}
	if host := site.Host(); host != "" && !links.IsLoopback(host) && c.Identify == nil && c.Token == "" {
		err = errors.Join(err, errors.New("Config.URL can be reached from other machines: that requires Config.Identify or Config.Token"))
	}
	if c.Token != "" && len(c.Token) < minToken {
		err = errors.Join(err, fmt.Errorf("Config.Token has less than %d bytes, and could be guessed", minToken))
	}
	if c.Identify != nil && c.Token != "" {
		err = errors.Join(err, errors.New("Config has both Identify and Token, and needs one of them"))
	}
	if (c.Store == "") != (c.SecretsKeyFile == "") || c.Store != "" && c.Data == "" {
		err = errors.Join(err, errors.New("Config.Store requires SecretsKeyFile and Data, and SecretsKeyFile is for Store"))
	}
	for _, h := range c.Hosts {
		if _, hostErr := links.ParseHost(h); hostErr != nil {
			err = errors.Join(err, fmt.Errorf("Config.Hosts: %q is not a host: %w", h, hostErr))
		}
	}
	for _, o := range c.AllowOrigins {
		if _, originErr := links.ParseOrigin(o); originErr != nil {
			err = errors.Join(err, fmt.Errorf("Config.AllowOrigins: %q is not an origin: %w", o, originErr))
		}
	}
	err = errors.Join(err, c.validateOAuth(site))
	l := c.Limits
	for _, b := range []Budget{l.Working, l.Streams, l.Uploads, l.Disk} {
		if b.Each < 0 || b.All < 0 {
			err = errors.Join(err, errors.New("Config.Limits has a negative budget"))
			break
		}
	}
	if l.EvictAfter < 0 || l.MaxResident < 0 || l.KeepFor < 0 || l.KeepEach < 0 || l.KeepAll < 0 || l.KeepBytes < 0 {
		err = errors.Join(err, errors.New("Config.Limits has a negative limit"))
	}
	if c.Root != "" {
		if info, statErr := os.Stat(c.Root); statErr != nil || !info.IsDir() {
			err = errors.Join(err, fmt.Errorf("Config.Root: there is no folder %s", c.Root))
		}
	}
	return site, err
}

// validateOAuth returns what is wrong with c.OAuth.
func (c *Config) validateOAuth(site links.Site) error {
	config := c.oauthConfig()
	if config == nil {
		if o := c.OAuth; len(o.Scopes) > 0 || o.Roles != "" || o.ClientID != "" || o.ClientSecret != "" {
			return errors.New("Config.OAuth has no Issuer")
		}
		return nil
	}
	var err error
	if _, ok := site.Base(); !ok {
		err = errors.New("Config.OAuth requires a URL with a host: access tokens must be for the address of /mcp there")
	}
	if invalid := config.Validate(); invalid != nil {
		err = errors.Join(err, fmt.Errorf("Config.OAuth: %w", invalid))
	}
	return err
}

// oauthConfig returns whose access tokens are accepted; nil if nobody's are.
func (c *Config) oauthConfig() *oauth.Config {
	o := c.OAuth
	if o.Issuer == "" {
		return nil
	}
	return &oauth.Config{Issuer: o.Issuer, Scopes: slices.Clone(o.Scopes), RolesClaim: o.Roles, ClientID: o.ClientID, ClientSecret: o.ClientSecret}
}

func (c *Config) sync() store.Sync {
	if c.SyncAlways {
		return store.SyncAlways
	}
	return store.SyncDefault
}

// origins returns the origins of permitted pages, which validate has checked.
func (c *Config) origins() []string {
	var origins []string
	for _, o := range c.AllowOrigins {
		origin, _ := links.ParseOrigin(o)
		origins = append(origins, origin)
	}
	return origins
}

// hosts returns the permitted hosts, which validate has checked.
func (c *Config) hosts() []string {
	var hosts []string
	for _, h := range c.Hosts {
		name, _ := links.ParseHost(h)
		hosts = append(hosts, name)
	}
	return hosts
}

func (l Limits) engineLimits() engine.Limits {
	return engine.Limits{
		EvictAfter: l.EvictAfter, MaxResident: l.MaxResident, ReplayAlways: l.ReplayAlways,
		RetainFor: l.KeepFor, MaxFinishedPerOwner: l.KeepEach, MaxFinished: l.KeepAll, MaxFinishedBytes: l.KeepBytes,
		Working: budget.Limit(l.Working), Uploads: budget.Limit(l.Uploads), Disk: budget.Limit(l.Disk),
	}
}

func (a AskPolicy) mcpPolicy() mcp.AskPolicy {
	p := mcp.DefaultAskPolicy()
	p.Link = !a.NoLink
	if a.Handoff != 0 {
		p.Handoff = max(a.Handoff, 0)
	}
	if a.KeepAlive != 0 {
		p.KeepAlive = max(a.KeepAlive, 0)
	}
	return p
}
