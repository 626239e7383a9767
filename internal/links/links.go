// Package links builds the URLs of Beam's pages and endpoints. Only this package and the
// table of routes in package web know their paths.
package links

import (
	"context"
	"net/url"
	"strconv"
)

// A Base is what precedes the path of every page: empty if Beam is served at the root of
// its host, a path such as "/beam" if it is mounted below one, or a URL such as
// "https://example.com/beam" for links that leave Beam's pages. It has no trailing slash.
type Base string

// Home returns the URL of the first page.
func (b Base) Home() string { return string(b) + "/" }

// Search returns the URL of the photons that match all of some words.
func (b Base) Search(words string) string { return b.Home() + "?q=" + url.QueryEscape(words) }

// Settings returns the URL of the settings.
func (b Base) Settings() string { return string(b) + "/settings" }

// Docs returns the URL of the documentation.
func (b Base) Docs() string { return string(b) + "/docs" }

// Doc returns the URL of one of its documents.
func (b Base) Doc(name string) string { return b.Docs() + "/" + url.PathEscape(name) }

// Find returns the URL of the search for pages, photons, questions and runs.
func (b Base) Find() string { return string(b) + "/find" }

// Photon returns the URL of a photon's page.
func (b Base) Photon(name string) string { return string(b) + "/photons/" + url.PathEscape(name) }

// StartRun returns the URL to post a photon's arguments to.
func (b Base) StartRun(photon string) string { return b.Photon(photon) + "/runs" }

// PhotonTab returns the URL of a page that says how a photon is reached: by clients (connect), or by
// programs (api).
func (b Base) PhotonTab(name, tab string) string { return b.Photon(name) + "/" + tab }

// EditForm returns the URL that changes a photon's form.
func (b Base) EditForm(photon string) string { return b.Photon(photon) + "/form" }

// Runs returns the URL of the list of runs.
func (b Base) Runs() string { return string(b) + "/runs" }

// Run returns the URL of a run's page.
func (b Base) Run(id string) string { return b.Runs() + "/" + url.PathEscape(id) }

// RunEvents returns the URL of a run's stream.
func (b Base) RunEvents(id string) string { return b.Run(id) + "/events" }

// OperateRun returns the URL to post to, to do something with a run: cancel, adopt (become its owner),
// replay (start a run with its answers), fork (start one that goes on from it) or delete, whose page asks first.
func (b Base) OperateRun(id, action string) string { return b.Run(id) + "/" + action }

// Result returns the URL of a run's result, as JSON.
func (b Base) Result(run string) string { return b.Run(run) + "/result" }

// RunMessages returns the URL of a run's messages.
func (b Base) RunMessages(id string) string { return b.Run(id) + "/messages" }

// RunMessage returns the URL of one of them, that of the log entry with an ordinal.
func (b Base) RunMessage(id string, seq uint64) string {
	return b.RunMessages(id) + "/" + strconv.FormatUint(seq, 10)
}

// ExportRun returns the URL of a whole run as a file. Format is html or json.
func (b Base) ExportRun(id, format string) string { return b.Run(id) + "/export?format=" + format }

// Artifact returns the URL of an artifact's content. Seq is the number of its log entry.
func (b Base) Artifact(run string, seq uint64) string {
	return b.Run(run) + "/artifacts/" + strconv.FormatUint(seq, 10)
}

// Inbox returns the URL of the list of open questions.
func (b Base) Inbox() string { return string(b) + "/asks" }

// Ask returns the URL of a question's page.
func (b Base) Ask(id string) string { return b.Inbox() + "/" + url.PathEscape(id) }

// Evidence returns the URL of the content of an artifact that a question shows. N counts
// from 0.
func (b Base) Evidence(id string, n int) string { return b.Ask(id) + "/evidence/" + strconv.Itoa(n) }

// AnswerAsk returns the URL to post a question's form to. Action is one of MCP's
// elicitation actions.
func (b Base) AnswerAsk(id, action string) string {
	return string(b) + "/mcp/request?ask=" + url.QueryEscape(id) + "&action=" + url.QueryEscape(action)
}

// Sampling returns the URL to post a form about a request to a model to. Action is
// approve, stop or return.
func (b Base) Sampling(id, action string) string {
	return b.Ask(id) + "/sampling?action=" + url.QueryEscape(action)
}

// Models returns the URL of the page about the configured models.
func (b Base) Models() string { return string(b) + "/models" }

// RevokeStanding returns the URL to revoke a standing approval of requests to models at.
func (b Base) RevokeStanding(id int) string {
	return b.Models() + "/standing/" + strconv.Itoa(id) + "/revoke"
}

// Updates returns the URL of the stream that keeps a page with a list up to date. Page
// is the query that names the page.
func (b Base) Updates(page string) string { return string(b) + "/updates?page=" + page }

// Upstreams returns the URL of the list of upstreams.
func (b Base) Upstreams() string { return string(b) + "/upstreams" }

// Upstream returns the URL of an upstream's page.
func (b Base) Upstream(name string) string { return b.Upstreams() + "/" + url.PathEscape(name) }

// OperateUpstream returns the URL to post to, to do something with an upstream: accept,
// reconnect or remove.
func (b Base) OperateUpstream(name, action string) string { return b.Upstream(name) + "/" + action }

// MCP returns the URL of the MCP endpoint.
func (b Base) MCP() string { return string(b) + "/mcp" }

// UpstreamMCP returns the URL of the MCP endpoint of a single upstream.
func (b Base) UpstreamMCP(name string) string { return b.MCP() + "/u/" + url.PathEscape(name) }

// ResourceMetadata precedes the path of an endpoint in the URL of its metadata as a
// protected resource (RFC 9728, section 3.1).
const ResourceMetadata = "/.well-known/oauth-protected-resource"

// Login returns the URL of the sign-in page.
func (b Base) Login() string { return string(b) + "/login" }

// Logout returns the URL to post to, to sign out.
func (b Base) Logout() string { return string(b) + "/logout" }

// LoginOpenID returns the URL that signs in with an identity provider and leads to next.
func (b Base) LoginOpenID(next string) string {
	return b.Login() + "/openid?" + url.Values{"next": {next}}.Encode()
}

// LoginCallback returns the URL that an identity provider sends browsers back to.
func (b Base) LoginCallback() string { return b.Login() + "/callback" }

// Account returns the URL of the page about who is signed in.
func (b Base) Account() string { return string(b) + "/account" }

// LoginThen returns the URL of the sign-in page that leads to next.
func (b Base) LoginThen(next string) string {
	return b.Login() + "?" + url.Values{"next": {next}}.Encode()
}

// SignIn returns the URL that signs a browser in with a code and leads to next, a path,
// if it is not empty.
func (b Base) SignIn(code, next string) string {
	u := b.Login() + "?" + url.Values{"code": {code}}.Encode()
	if next != "" {
		u += "&" + url.Values{"next": {next}}.Encode()
	}
	return u
}

// To returns the URL of a path that is relative to the root of Beam's pages, such as the
// path of a request or of a static file.
func (b Base) To(path string) string { return string(b) + path }

type contextKey struct{}

// WithBase returns a context with the base of the links on a page.
func WithBase(ctx context.Context, b Base) context.Context {
	return context.WithValue(ctx, contextKey{}, b)
}

// FromContext returns the base of the links on a page: the empty base unless [WithBase]
// set another.
func FromContext(ctx context.Context) Base {
	b, _ := ctx.Value(contextKey{}).(Base)
	return b
}

// The headers with which the terminal says where a request comes from, and how much of what
// a question shows it has rendered (docs/http.md).
const (
	SurfaceHeader  = "Beam-Surface"
	RenderedHeader = "Beam-Rendered"
)

// LoopbackHost is the host of requests that stay on this machine.
const LoopbackHost = "localhost"
