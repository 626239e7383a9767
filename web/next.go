package web

import (
	"net/http"
	"net/url"
	"strings"
)

// next is where an address or a form wants to go after signing in: a path of
// our own, or else the first page.
func next(r *http.Request) string {
	if to := r.FormValue("next"); ownPath(to) {
		return to
	}
	return "/"
}

// ownPath tells a path of our own from what a browser would take for another
// host or a scheme, be it by a backslash or by what it drops from addresses.
func ownPath(to string) bool {
	u, err := url.Parse(to)
	return err == nil && !u.IsAbs() && u.Host == "" && strings.HasPrefix(to, "/") &&
		!strings.HasPrefix(to, "//") && !strings.ContainsAny(to, "\\\r\n\t")
}

// A browser that was shown the sign-in page instead of what it wanted, and is
// then signed in by a single-use address, is led to what it wanted: the address
// doesn't know. A cookie does, for so many seconds. It is checked like any
// address, since programs on other ports can set it, too.
const wantedAge = 15 * 60

// maxWanted bounds it, in bytes: browsers drop large cookies.
const maxWanted = 2 << 10

// want keeps what the browser wanted.
func (s *sessions) want(w http.ResponseWriter, r *http.Request, to string) {
	if to = url.QueryEscape(to); len(to) <= maxWanted {
		http.SetCookie(w, s.wantedCookie(r, to, wantedAge))
	}
}

// wanted is what the browser wanted, or otherwise, if that is not known. It is
// forgotten then.
func (s *sessions) wanted(w http.ResponseWriter, r *http.Request, otherwise string) string {
	c, err := r.Cookie(s.name + "_next")
	if err != nil {
		return otherwise
	}
	http.SetCookie(w, s.wantedCookie(r, "", -1))
	if to, err := url.QueryUnescape(c.Value); err == nil && ownPath(to) {
		return to
	}
	return otherwise
}

func (s *sessions) wantedCookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: s.name + "_next", Value: value, MaxAge: age,
		Path: "/login", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil,
	}
}
