// Package access finds out who sends a request: it authenticates callers, slows down who
// guesses credentials, ends the requests of who has been signed out, and records all that in
// the audit file.
package access

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/users"
	"github.com/photon-beam/beam/web/identity"
)

// Config says who may be a caller.
type Config struct {
	Keys           identity.Keys
	Token          string              // empty for none
	Identify       identity.Identifier // nil if sessions identify callers
	Users          *users.Store        // nil for none
	HasProvider    bool                // an identity provider vouches for people
	Authenticators []callers.Authenticator
}

// RequiresSignIn reports whether nobody is served who isn't known.
func (c *Config) RequiresSignIn() bool {
	return c.Token != "" || c.Users != nil || c.HasProvider || len(c.Authenticators) > 0
}

// Callers knows the callers of requests. It is safe for concurrent use.
type Callers struct {
	Sessions *identity.Sessions
	Attempts *Attempts
	Live     *LiveRequests
	// OwnSignIn means that the program that embeds Beam identifies the callers: there are no
	// sessions.
	OwnSignIn bool
	// RequiresSignIn means that nobody is served who isn't known.
	RequiresSignIn bool

	// browsers know who sends the requests of browsers and scripts, and programs who sends those
	// of programs that keep no cookies, such as MCP clients. Credentials know only callers whose
	// credentials a browser doesn't add by itself.
	browsers, programs, credentials callers.Chain
}

// NewCallers returns the callers of a configuration with those sessions.
func NewCallers(c Config, sessions *identity.Sessions, attempts *Attempts) *Callers {
	a := &Callers{Sessions: sessions, Attempts: attempts, Live: NewLiveRequests(), OwnSignIn: c.Identify != nil, RequiresSignIn: c.RequiresSignIn()}
	if c.Identify != nil {
		a.browsers = callers.Chain{callers.ByConnection{}, c.Identify}
		a.programs, a.credentials = a.browsers, a.browsers
		return a
	}
	known := append(callers.Chain{callers.ByConnection{}}, c.Authenticators...)
	if c.Users != nil {
		known = append(known, c.Users) // before the token that all have, as on the sign-in page
	}
	known = append(known, sessions.Token())
	a.credentials = known
	a.programs = append(slices.Clip(known), callers.RefuseUnknownBearer{})
	a.browsers = append(slices.Clip(a.programs), sessions)
	if a.RequiresSignIn {
		a.programs = a.browsers
	}
	return a
}

// An Identifier finds out who sends a request. The request that it returns has a context that
// ends when the caller may no longer send it, until done is called.
type Identifier func(http.ResponseWriter, *http.Request) (r *http.Request, caller generators.Caller, done func(), err error)

var _, _ Identifier = (*Callers)(nil).Browser, (*Callers)(nil).Program

// Browser identifies the caller of a request of a browser or a script. It begins a session for
// a browser that has none if nobody has to sign in, and renews one that is in use.
func (a *Callers) Browser(w http.ResponseWriter, r *http.Request) (*http.Request, generators.Caller, func(), error) {
	began := a.Live.Now()
	caller, err := a.throttled(r, a.browsers.Authenticate)
	switch {
	case errors.Is(err, callers.ErrNoCredentials) && !a.OwnSignIn:
		caller, err = a.Sessions.Begin(w, r)
	case err == nil && !a.OwnSignIn:
		err = a.Sessions.Renew(w, r)
	}
	if err != nil {
		return r, caller, nil, err
	}
	r, done := a.whileSignedIn(r, caller, a.browsers, began)
	return r, caller, done, nil
}

// Program identifies the caller of a request of a program that keeps no cookies. If nobody has
// to sign in, it is [callers.LocalClient]: a program that can reach the loopback address runs on
// the operator's machine.
func (a *Callers) Program(_ http.ResponseWriter, r *http.Request) (*http.Request, generators.Caller, func(), error) {
	began := a.Live.Now()
	caller, err := a.throttled(r, a.programs.Authenticate)
	if errors.Is(err, callers.ErrNoCredentials) {
		caller, err = callers.LocalClient(), nil
	}
	if err != nil {
		return r, caller, nil, err
	}
	r, done := a.whileSignedIn(r, caller, a.programs, began)
	return r, caller, done, nil
}

// whileSignedIn returns a request with a context that ends when its caller is signed out
// (see [LiveRequests.Add]), or an identity provider no longer vouches for them, until done
// is called.
func (a *Callers) whileSignedIn(r *http.Request, caller generators.Caller, by callers.Authenticator, after int) (_ *http.Request, done func()) {
	r, remove := a.Live.Add(r, caller, by, after)
	until, ok := a.Sessions.VouchedUntil(r, caller)
	if !ok || a.OwnSignIn {
		return r, remove
	}
	ctx, cancel := context.WithDeadlineCause(r.Context(), until, errSignedOut)
	return r.WithContext(ctx), func() { cancel(); remove() }
}

// HasSession reports whether the request's caller is that of the browser's session, rather
// than of a header.
func (a *Callers) HasSession(r *http.Request) bool {
	if a.OwnSignIn {
		return false
	}
	caller, err := a.browsers.Authenticate(r)
	bySession, sessionErr := a.Sessions.Authenticate(r)
	return err == nil && sessionErr == nil && caller.ID == bySession.ID && callers.IsSignedIn(caller)
}

// MaySignIn reports whether the caller is a browser that sees more once it has signed in.
func (a *Callers) MaySignIn(caller generators.Caller) bool {
	return !a.OwnSignIn && !a.RequiresSignIn && caller.ID != "" && !callers.IsSignedIn(caller)
}

// LocalOnly reports whether nobody says who they are, so that only this machine is served.
func (a *Callers) LocalOnly() bool { return !a.RequiresSignIn && !a.OwnSignIn }

// Watched returns the callers whose runs the caller's pages depend on.
func (a *Callers) Watched(caller generators.Caller) []generators.Caller {
	if a.MaySignIn(caller) {
		return []generators.Caller{caller, callers.LocalClient()}
	}
	return []generators.Caller{caller}
}

// BrowserOf returns what distinguishes the browsers of callers.
func (a *Callers) BrowserOf(r *http.Request, caller generators.Caller) string {
	if a.OwnSignIn {
		return caller.ID + "\x00" + r.UserAgent()
	}
	return cmp.Or(a.Sessions.BrowserID(r), caller.ID)
}
