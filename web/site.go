package web

import (
	"fmt"
	"net/http"
	"net/url"
)

// stripSitePath returns the request without the path of the site, if it begins with it.
func (s *Server) stripSitePath(r *http.Request) *http.Request {
	path, ok := s.site.Strip(r.URL.Path)
	rawPath, rawOK := s.site.Strip(r.URL.RawPath)
	if s.links == "" || !ok || r.URL.RawPath != "" && !rawOK {
		return r
	}
	stripped := *r
	stripped.URL = new(url.URL)
	*stripped.URL = *r.URL
	stripped.URL.Path = path
	if r.URL.RawPath != "" {
		stripped.URL.RawPath = rawPath
	}
	return &stripped
}

// redirectHome redirects a request for the path of the site without its trailing slash.
func (s *Server) redirectHome(w http.ResponseWriter, r *http.Request) {
	home := s.links.Home()
	if r.URL.RawQuery != "" {
		home += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, home, http.StatusPermanentRedirect)
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
