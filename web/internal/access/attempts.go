package access

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/signin"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/web/identity"
)

// throttled authenticates a request. If the request presents a token, the error may be a
// [*signin.TooManyError].
func (a *Callers) throttled(r *http.Request, authenticate func(*http.Request) (generators.Caller, error)) (caller generators.Caller, err error) {
	token, presented := callers.BearerToken(r)
	if !presented || a.OwnSignIn {
		return authenticate(r)
	}
	refused := a.Attempts.Try(r, token, func() bool {
		caller, err = authenticate(r)
		return !isWrongToken(token, err)
	})
	if refused != nil {
		return generators.Caller{}, refused
	}
	if err != nil { // it wasn't wrong, but neither is it right
		a.Attempts.Throttle.Forget(token)
	}
	return caller, err
}

// Attempts slow down who guesses credentials. It is safe for concurrent use.
type Attempts struct {
	Throttle *signin.Throttle
	// TrustedProxies say which address a request comes from that they send.
	TrustedProxies []netip.Prefix
	Users          *users.Store // nil for none
	Codes          *identity.SignInCodes
	Token          identity.TokenAuthenticator
}

// Try calls check, which reports whether a credential is right, unless the address
// of the request has presented too many wrong ones. Right ones that nobody guesses are
// always checked: otherwise whoever presents wrong ones would lock out all others with the
// same address.
func (a *Attempts) Try(r *http.Request, credential string, check func() (right bool)) error {
	if a.isUnguessable(r, credential) {
		check()
		return nil
	}
	return a.Throttle.Attempt(signin.Address(r, a.TrustedProxies), credential, check)
}

// isUnguessable reports whether a credential is right, and so random that it can't have been
// guessed: a user's token, a sign-in code, or a long token of the server's.
func (a *Attempts) isUnguessable(r *http.Request, credential string) bool {
	if a.Users != nil {
		if _, _, ok := a.Users.Lookup(credential); ok {
			return true
		}
	}
	return len(credential) >= unguessableToken && a.Token.Matches(credential) || a.Codes.IsValid(r.Context(), credential)
}

// unguessableToken is the length of a token of the server's, in bytes, that nobody guesses
// even if they can try a thousand each second. It is that of the output of openssl rand -hex
// 16.
const unguessableToken = 32

// isWrongToken reports whether a token may be somebody's guess. One that was signed can't be
// guessed, but it expires.
func isWrongToken(token string, err error) bool {
	var refused *oauth.Refusal
	if errors.As(err, &refused) {
		isJWT := strings.HasPrefix(token, "ey") && strings.Count(token, ".") == 2
		return refused.Status == http.StatusUnauthorized && !isJWT
	}
	return errors.Is(err, callers.ErrSignInRequired)
}
