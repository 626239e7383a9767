package identity

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// NextPath returns the path to open after signing in, from the query or the form: the
// first page's if there is none or it is not a path of this site.
func (s *Sessions) NextPath(r *http.Request) string {
	if to := r.FormValue("next"); s.isOwnPath(to) {
		return to
	}
	return s.links.Home()
}

// isOwnPath reports whether a path is that of the site, or below it. It rejects what a
// browser would read as another host or scheme, with backslashes or with characters that
// it strips.
func (s *Sessions) isOwnPath(to string) bool {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return false
	}
	_, below := s.site.Strip(path.Clean(u.Path))
	return below
}

// returnPathAge is how long, in seconds, a cookie keeps the path that a browser requested
// before it was shown the sign-in page, to return to after signing in with a single-use
// address. The cookie is validated, since programs on other ports can set it, too.
const returnPathAge = 15 * 60

// maxReturnPath limits the path, in bytes: browsers drop large cookies.
const maxReturnPath = 2 << 10

// SaveReturnPath saves the path of a request in a cookie.
func (s *Sessions) SaveReturnPath(w http.ResponseWriter, r *http.Request, requested string) {
	if to := url.QueryEscape(requested); len(to) <= maxReturnPath {
		http.SetCookie(w, s.returnPathCookie(r, to, returnPathAge))
	}
}

// TakeReturnPath returns the saved path and removes the cookie; it returns fallback if
// there is no valid one.
func (s *Sessions) TakeReturnPath(w http.ResponseWriter, r *http.Request, fallback string) string {
	c, err := r.Cookie(s.cookieName + "_next")
	if err != nil {
		return fallback
	}
	http.SetCookie(w, s.returnPathCookie(r, "", -1))
	if to, err := url.QueryUnescape(c.Value); err == nil && s.isOwnPath(to) {
		return to
	}
	return fallback
}

func (s *Sessions) returnPathCookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName + "_next", Value: value, MaxAge: age,
		Path: s.links.Login(), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.isSecure(r),
	}
}
