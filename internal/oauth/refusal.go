package oauth

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// A Refusal says why a request is not authorized (RFC 6750, section 3.1).
type Refusal struct {
	Status int
	Code   string // of the error; empty if the request has no access token
	Text   string // in printable ASCII, without quotation marks
}

var _ error = (*Refusal)(nil)

func (r *Refusal) Error() string { return r.Text }

func invalidRequest(text string) error {
	return &Refusal{http.StatusBadRequest, "invalid_request", text}
}

func invalidToken(text string) error {
	return &Refusal{http.StatusUnauthorized, "invalid_token", text}
}

// errUnavailable is the refusal while the issuer can't be asked. It is not invalid_token,
// for which a client would discard its token.
var errUnavailable error = &Refusal{http.StatusServiceUnavailable, "", "access tokens can't be verified at the moment, because the authorization server can't be reached; try again later"}

// ErrNoToken is the refusal of a request without an access token.
var ErrNoToken error = &Refusal{http.StatusUnauthorized, "", "an access token is required: send the header Authorization: Bearer TOKEN"}

// ErrInvalidToken is the refusal of a token that is not one of an issuer's.
var ErrInvalidToken = invalidToken("the token is wrong, has expired or was revoked")

// Challenge returns the header WWW-Authenticate of a response that refuses a request.
// MetadataURL is where the metadata of the resource is.
func (v *Verifier) Challenge(r *Refusal, metadataURL string) string {
	var params []string
	add := func(name, value string) {
		if value != "" {
			params = append(params, fmt.Sprintf(`%s="%s"`, name, value))
		}
	}
	add("resource_metadata", metadataURL)
	add("scope", strings.Join(v.config.Scopes, " "))
	if r.Code != "" {
		add("error", r.Code)
		add("error_description", r.Text)
	}
	return "Bearer " + strings.Join(params, ", ")
}

// CheckRequest returns a [*Refusal] if a request carries a token where there must be none:
// in its query, which logs and other sites get to see, or in several headers, of which a
// proxy may have read another.
func CheckRequest(r *http.Request) error {
	switch {
	case r.URL.Query().Has("access_token"):
		return invalidRequest("an access token must be in the header Authorization, not in the URL")
	case len(r.Header["Authorization"]) > 1:
		return invalidRequest("the request has more than one header Authorization")
	}
	return nil
}

// tokenPattern matches a token (RFC 6750, section 2.1).
var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// maxToken is the length of the longest access token, in bytes.
const maxToken = 16 << 10

// Token returns the access token of a request. The error is a [*Refusal]: [ErrNoToken],
// or for what is not a token.
func Token(r *http.Request) (string, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer"):
		return "", ErrNoToken
	case len(token) > maxToken || !tokenPattern.MatchString(token):
		return "", invalidRequest("the header Authorization must be Bearer, a space, and an access token")
	}
	return token, nil
}
