package callers

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/generators"
)

// An Authenticator finds out who sends a request, by credentials of one kind. It may be
// called from several goroutines at once, and doesn't read the request's body.
type Authenticator interface {
	// Authenticate returns the caller of a request. The error is [ErrNoCredentials] if the
	// request has no credentials of this kind, so that others may know the caller;
	// [ErrSignInRequired] or one that wraps it if it has some that aren't valid;
	// [ErrForbidden] if the caller may not use Beam; and otherwise internal.
	Authenticate(*http.Request) (generators.Caller, error)
}

// Errors of an [Authenticator].
var (
	ErrNoCredentials = errors.New("the request has no credentials")
	// ErrSignInRequired means that it isn't known who sends the request.
	ErrSignInRequired = errors.New("sign in first: send the header Authorization: Bearer TOKEN, or open the sign-in page in a browser")
	// ErrForbidden means that a request's caller is known, but may not use Beam.
	ErrForbidden = errors.New("you may not use this")
)

// A Chain asks authenticators in turn, until one knows the request's credentials.
type Chain []Authenticator

var _ Authenticator = Chain(nil)

// Authenticate implements [Authenticator].
func (c Chain) Authenticate(r *http.Request) (generators.Caller, error) {
	for _, a := range c {
		caller, err := a.Authenticate(r)
		if !errors.Is(err, ErrNoCredentials) {
			return caller, err
		}
	}
	return generators.Caller{}, ErrNoCredentials
}

// ByConnection knows the callers of [WithCaller].
type ByConnection struct{}

var _ Authenticator = ByConnection{}

type connectionKey struct{}

// WithCaller returns a context for requests whose caller is known from their connection.
func WithCaller(ctx context.Context, caller generators.Caller) context.Context {
	return context.WithValue(ctx, connectionKey{}, caller)
}

// Authenticate implements [Authenticator].
func (ByConnection) Authenticate(r *http.Request) (generators.Caller, error) {
	if caller, ok := r.Context().Value(connectionKey{}).(generators.Caller); ok {
		return caller, nil
	}
	return generators.Caller{}, ErrNoCredentials
}

// BearerToken returns the token in a request's header Authorization. It reports false if
// there is none.
func BearerToken(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}

// RefuseUnknownBearer ends a chain: it refuses a bearer token that no other authenticator
// knows, so that a wrong token never passes for none.
type RefuseUnknownBearer struct{}

var _ Authenticator = RefuseUnknownBearer{}

// Authenticate implements [Authenticator].
func (RefuseUnknownBearer) Authenticate(r *http.Request) (generators.Caller, error) {
	if _, presented := BearerToken(r); presented {
		return generators.Caller{}, ErrSignInRequired
	}
	return generators.Caller{}, ErrNoCredentials
}

// A RefusedError means that a request's credentials aren't valid, and says why. It is
// [ErrSignInRequired] or, if Forbidden is set, [ErrForbidden] to errors.Is.
type RefusedError struct {
	By        string // the kind of credentials, for the audit file
	Text      string // for the caller, a sentence
	Forbidden bool
}

func (e *RefusedError) Error() string { return e.Text }

// Is reports what the error is.
func (e *RefusedError) Is(target error) bool {
	if e.Forbidden {
		return target == ErrForbidden
	}
	return target == ErrSignInRequired
}
