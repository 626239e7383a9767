package web

import (
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

// cleanURL returns the URL to redirect a request to whose path is not the canonical one,
// such as that of the site without its trailing slash; "" if it is. [http.ServeMux] does
// the same, but doesn't know the path of the site.
func (s *Server) cleanURL(r *http.Request) string {
	if s.links == "" {
		return ""
	}
	requested := r.URL.EscapedPath()
	clean := path.Clean("/" + requested)
	if strings.HasSuffix(requested, "/") && clean != "/" {
		clean += "/"
	}
	if clean == requested {
		return ""
	}
	if r.URL.RawQuery != "" {
		clean += "?" + r.URL.RawQuery
	}
	return s.links.To(clean)
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
