package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// stripSitePath returns the request without the path of the site, if it begins with it.
func (s *Server) stripSitePath(r *http.Request) *http.Request {
	stripped, ok := s.site.Strip(r.URL.Path)
	rawPath, rawOK := s.site.Strip(r.URL.RawPath)
	if s.links == "" || !ok || r.URL.RawPath != "" && !rawOK {
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

// redirectToCleanPaths redirects requests for paths with empty or dot segments, and for
// the path of the site without its trailing slash, to the path below the site's.
// [http.ServeMux] would lead away from the site, whose path it doesn't know.
func (s *Server) redirectToCleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested := r.URL.EscapedPath()
		clean := cleanPath(requested)
		if clean == requested || r.Method == http.MethodConnect {
			next.ServeHTTP(w, r)
			return
		}
		clean, _ = s.site.Strip(clean)
		to := url.URL{RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, s.links.To(cmp.Or(clean, "/"))+to.String(), http.StatusPermanentRedirect)
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

// checkPath returns an error if a request could be for a page with the path of the site
// or for another without it.
func (s *Server) checkPath(routes *http.ServeMux) error {
	if s.links == "" {
		return nil
	}
	for _, below := range []string{"", "/", "/x"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := &http.Request{Method: method, URL: &url.URL{Path: s.links.To(below)}}
			if _, pattern := routes.Handler(r); pattern != "/" {
				return fmt.Errorf("pages can't be served below %s, which is the path of one of Beam's own pages", s.links)
			}
		}
	}
	return nil
}
