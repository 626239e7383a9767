package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/signin"
)

// throttled authenticates a request. If the request presents a token, the error may be a
// [*signin.TooManyError].
func (s *Server) throttled(r *http.Request, authenticate func(*http.Request) (generators.Caller, error)) (caller generators.Caller, err error) {
	token, presented := callers.BearerToken(r)
	if !presented || s.identifier != nil {
		return authenticate(r)
	}
	refused := s.attemptSignIn(r, token, func() bool {
		caller, err = authenticate(r)
		return !isWrongToken(token, err)
	})
	if refused != nil {
		return generators.Caller{}, refused
	}
	return caller, err
}

// attemptSignIn calls check, which reports whether a credential is right, unless the address
// of the request has presented too many wrong ones.
func (s *Server) attemptSignIn(r *http.Request, credential string, check func() (right bool)) error {
	return s.throttle.Attempt(signin.Address(r, s.trustedProxies), credential, check)
}

// isWrongToken reports whether a token may be somebody's guess. One that was signed can't be
// guessed, but it expires.
func isWrongToken(token string, err error) bool {
	var refused *oauth.Refusal
	if errors.As(err, &refused) {
		return refused.Status == http.StatusUnauthorized && strings.Count(token, ".") != 2
	}
	return errors.Is(err, callers.ErrSignInRequired)
}
