package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/assets"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/asks"
	"github.com/photon-beam/beam/web/internal/content"
	"github.com/photon-beam/beam/web/internal/problem"
)

// routes returns the routes of all pages and endpoints. What a page loads is compressed.
func (p *parts) routes(compress func(http.Handler) http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	a := p.adapter
	page := func(pattern string, h callerHandler) { mux.Handle(pattern, compress(a.authenticated(h))) }
	handle := func(pattern string, h callerHandler) { mux.Handle(pattern, a.authenticated(h)) }
	page("GET /{$}", p.photons.List)
	page("GET /find", p.finder.find)
	page("GET /settings", p.settings.show)
	handle("POST /settings", p.settings.change)
	page("GET /docs", p.documents.List)
	page("GET /docs/{name}", p.documents.Show)

	page("GET /photons/{name}", p.photons.Show)
	page("GET /photons/{name}/connect", p.photons.Connect)
	page("GET /photons/{name}/api", p.photons.ShowAPI)
	handle("POST /photons/{name}/runs", p.photons.Start)
	handle("POST /photons/{name}/form", p.photons.EditForm)
	handle("GET /photons/{name}/form", p.photons.EditedForm)

	page("GET /runs", p.runs.List)
	page("GET /runs/{id}", p.runs.Show)
	page("GET /runs/{id}/messages", p.runs.ListMessages)
	page("GET /runs/{id}/messages/{seq}", p.runs.ShowMessage)
	page("GET /runs/{id}/export", p.runs.Export)
	page("GET /runs/{id}/delete", p.runs.AskDelete)
	handle("POST /runs/{id}/delete", p.runs.Delete)
	handle("POST /runs/{id}/replay", p.runs.Replay)
	handle("POST /runs/{id}/fork", p.runs.Fork)
	handle("POST /runs/{id}/cancel", p.runs.Cancel)
	handle("POST /runs/{id}/adopt", p.runs.Adopt)
	for path, open := range map[string]content.Opener{
		"/runs/{id}/result": p.contents.Result, "/runs/{id}/artifacts/{seq}": p.contents.Artifact, "/asks/{id}/evidence/{n}": p.contents.Evidence,
	} {
		handle("GET "+path, open.With(content.Download))
		page("GET "+path+"/view", open.With(p.contents.View))
		page("GET "+path+"/chart.svg", open.With(content.ChartSVG))
	}

	handle("GET /unfinished", p.runs.WriteUnfinished)

	page("GET /asks", p.asks.List)
	page(asks.Pattern, p.asks.Show)
	handle("POST /mcp/request", p.answers.Answer)
	if p.sampling != nil {
		page("GET /models", p.sampling.Models)
		handle("POST /models/standing/{id}/revoke", p.sampling.Revoke)
		handle("POST /asks/{id}/sampling", p.sampling.Decide)
	}

	handle("GET /runs/{id}/events", p.streams.Events)
	handle("GET /runs/{id}/log", p.streams.Log)
	handle("GET /updates", p.streams.Updates)

	if p.upstreams != nil {
		page("GET /upstreams", a.ofOperator(p.upstreams.List))
		page("GET /upstreams/{upstream}", a.ofOperator(p.upstreams.Show))
		handle("POST /upstreams/{upstream}/{action}", a.ofOperator(p.upstreams.Operate))
	}
	if p.replicas != nil {
		page("GET /replicas", a.ofOperator(p.replicas.Show))
	}
	if !a.callers.OwnSignIn {
		page("GET /account", p.login.Account)
		p.routeLogin(mux)
	}
	if p.mcp != nil {
		p.routeMCP(mux)
	}
	p.routeOperations(mux)
	mux.Handle("/", a.unauthenticated(handleUnmatched(mux)))
	return mux
}

func (p *parts) routeLogin(mux *http.ServeMux) {
	mux.Handle("GET /login", p.adapter.unauthenticated(p.login.Login))
	mux.Handle("POST /login", p.adapter.unauthenticated(p.login.TokenLogin))
	mux.Handle("POST /logout", p.adapter.unauthenticated(p.login.Logout))
	if p.login.OpenID != nil {
		mux.Handle("GET /login/openid", p.adapter.unauthenticated(p.login.OpenIDLogin))
		mux.Handle("GET /login/callback", p.adapter.unauthenticated(p.login.OpenIDCallback))
	}
}

// routeMCP adds the MCP endpoints and, if they are protected resources, their metadata. That has
// the well-known path at the root of the host, before the path of the site, where clients that
// know only the endpoint's address look. For proxies that forward only the path of the site, it
// is below that, too, and refusals send clients there.
func (p *parts) routeMCP(mux *http.ServeMux) {
	mux.Handle("/mcp", p.adapter.ofClient(p.mcp.serve))
	mux.Handle("/mcp/u/{name}", p.adapter.ofClient(p.mcp.serveUpstream))
	if p.adapter.clients == nil {
		return
	}
	metadata := p.adapter.unauthenticated(p.adapter.clients.Metadata)
	for _, path := range slices.Compact([]string{"", string(p.site.Path)}) {
		mux.Handle("GET "+links.ResourceMetadata+path+"/mcp", metadata)
		mux.Handle("GET "+links.ResourceMetadata+path+"/mcp/u/{name}", metadata)
	}
}

func (p *parts) routeOperations(mux *http.ServeMux) {
	serveAsset := func(w http.ResponseWriter, r *http.Request) { assets.Pages().ServeHTTP(w, r) }
	mux.HandleFunc("GET /static/", serveAsset)
	mux.HandleFunc("GET /static", serveAsset) // which has no such file; otherwise mux would redirect it
	mux.HandleFunc("GET /healthz", writeOK)
	mux.Handle("GET /readyz", p.adapter.unauthenticated(p.monitoring.serveReady))
	if p.monitoring.metrics != nil {
		mux.Handle("GET /metrics", p.adapter.ofProgram(p.monitoring.serveMetrics))
	}
}

// handleUnmatched handles requests that match no route. For a known path it returns the
// methods allowed.
func handleUnmatched(mux *http.ServeMux) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" {
				allowed = append(allowed, method)
			}
		}
		if allowed == nil {
			return problem.ErrPageNotFound
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return problem.Errorf(http.StatusMethodNotAllowed, "This URL allows %s, not %s.", strings.Join(allowed, " and "), r.Method)
	}
}
