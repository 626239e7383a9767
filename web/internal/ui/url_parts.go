package ui

import (
	"net/url"
	"strings"

	"github.com/photon-beam/beam/internal/cleantext"
)

// urlParts are the parts of a URL that the page distinguishes.
type urlParts struct {
	link                string // the URL itself; empty unless it is an http or https URL
	before, host, after string // as displayed
	warnings            []string
}

func splitURL(s string) urlParts {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return urlParts{before: cleantext.Address(s)}
	}
	a := urlParts{link: s, before: cleantext.Address(s)}
	if before, after, ok := cutAroundHost(s, u); ok {
		a.before, a.host, a.after = cleantext.Address(before), cleantext.Address(u.Host), cleantext.Address(after)
	}
	for _, caution := range cleantext.AddressCautions(s) {
		a.warnings = append(a.warnings, cleantext.Text(strings.ReplaceAll(caution, u.Host, cleantext.Address(u.Host))))
	}
	return a
}

// cutAroundHost cuts a URL around its host, which follows the scheme and the user
// information.
func cutAroundHost(s string, u *url.URL) (before, after string, ok bool) {
	authority := strings.Index(s, "//") + len("//")
	end := len(s)
	if n := strings.IndexAny(s[authority:], "/?#"); n >= 0 {
		end = authority + n
	}
	at := strings.LastIndex(s[authority:end], "@") + 1 + authority
	if s[at:end] != u.Host {
		return "", "", false
	}
	return s[:at], s[end:], true
}
