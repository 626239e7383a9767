package web

import (
	"net/http"
	"net/url"
	"strings"
)

// nextPath is where an address or a form wants to go after signing in: a path of
// our own, or else the first page.
func nextPath(r *http.Request) string {
	if to := r.FormValue("next"); isOwnPath(to) {
		return to
	}
	return "/"
}

// isOwnPath tells a path of our own from what a browser would take for another
// host or a scheme, be it by a backslash or by what it drops from addresses.
func isOwnPath(to string) bool {
	u, err := url.Parse(to)
	return err == nil && !u.IsAbs() && u.Host == "" && strings.HasPrefix(to, "/") &&
		!strings.HasPrefix(to, "//") && !strings.ContainsAny(to, "\\\r\n\t")
}

// A browser that was shown the sign-in page instead of what it wanted, and is
// then signed in by a single-use address, is led to what it wanted: the address
// doesn't know. A cookie does, for so many seconds. It is checked like any
// address, since programs on other ports can set it, too.
const returnPathAge = 15 * 60

// maxReturnPath bounds it, in bytes: browsers drop large cookies.
const maxReturnPath = 2 << 10

// saveReturnPath keeps what the browser wanted.
func (s *sessions) saveReturnPath(w http.ResponseWriter, r *http.Request, to string) {
	if to = url.QueryEscape(to); len(to) <= maxReturnPath {
		http.SetCookie(w, s.returnPathCookie(r, to, returnPathAge))
	}
}

// takeReturnPath is what the browser wanted, or otherwise, if that is not known. It is
// forgotten then.
func (s *sessions) takeReturnPath(w http.ResponseWriter, r *http.Request, otherwise string) string {
	c, err := r.Cookie(s.cookieName + "_next")
	if err != nil {
		return otherwise
	}
	http.SetCookie(w, s.returnPathCookie(r, "", -1))
	if to, err := url.QueryUnescape(c.Value); err == nil && isOwnPath(to) {
		return to
	}
	return otherwise
}

func (s *sessions) returnPathCookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName + "_next", Value: value, MaxAge: age,
		Path: "/login", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil,
	}
}
