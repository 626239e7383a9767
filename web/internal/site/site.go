// Package site guards the border of a server: where it is, and which requests it serves at all.
package site

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/photon-beam/beam/internal/links"
)

// A Site is where browsers reach the server, and which requests it serves. Its fields must not
// change once it serves requests.
type Site struct {
	links.Site
	// Hosts are the host names that requests may name besides those of the loopback interface.
	Hosts []string
	// AllowedOrigins are the origins, besides the site's, whose pages may be MCP clients.
	AllowedOrigins []string
	// LocalOnly means that only requests from this machine are served.
	LocalOnly bool
}

// StripPath returns the request without the path of the site, if it begins with it.
func (s *Site) StripPath(r *http.Request) *http.Request {
	stripped, ok := s.Strip(r.URL.Path)
	rawPath, rawOK := s.Strip(r.URL.RawPath)
	if s.Path == "" || !ok || r.URL.RawPath != "" && !rawOK {
		return r
	}
	u := *r.URL
	u.Path = stripped
	if r.URL.RawPath != "" {
		u.RawPath = rawPath
	}
	r = r.WithContext(r.Context()) // a shallow copy
	r.URL = &u
	return r
}

// RedirectToCleanPaths redirects requests for paths with empty or dot segments, and for
// the path of the site without its trailing slash, to the path below the site's.
// [http.ServeMux] would lead away from the site, whose path it doesn't know.
func (s *Site) RedirectToCleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested := r.URL.EscapedPath()
		clean := cleanPath(requested)
		if clean == requested || r.Method == http.MethodConnect {
			next.ServeHTTP(w, r)
			return
		}
		clean, _ = s.Strip(clean)
		to := url.URL{RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, s.Path.To(cmp.Or(clean, "/"))+to.String(), http.StatusPermanentRedirect)
	})
}

// cleanPath returns an absolute path without empty and dot segments.
func cleanPath(p string) string {
	clean := path.Clean("/" + p)
	if clean != "/" && strings.HasSuffix(p, "/") {
		clean += "/"
	}
	return clean
}

// CheckRoutes returns an error if a request could be for a page with the path of the site
// or for another without it.
func (s *Site) CheckRoutes(routes *http.ServeMux) error {
	if s.Path == "" {
		return nil
	}
	for _, below := range []string{"", "/", "/x"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := &http.Request{Method: method, URL: &url.URL{Path: s.Path.To(below)}}
			if _, pattern := routes.Handler(r); pattern != "/" {
				return fmt.Errorf("pages can't be served below %s, which is the path of one of Beam's own pages", s.Path)
			}
		}
	}
	return nil
}

// RequestPath returns the path and query that a browser requested.
func (s *Site) RequestPath(r *http.Request) string { return s.Path.To(r.URL.RequestURI()) }
