package access

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/signin"
	"github.com/photon-beam/beam/internal/users"
)

// A Trail records in the audit file who signs in, and who is refused. It is safe for concurrent use.
type Trail struct {
	Log            *audit.Log // nil for none
	TrustedProxies []netip.Prefix
}

// SignedIn records that a caller has signed in.
func (t *Trail) SignedIn(r *http.Request, caller generators.Caller, by string) {
	t.record(r, audit.SignedIn, caller, by)
}

// SignedOut records that a caller has signed out everywhere.
func (t *Trail) SignedOut(r *http.Request, caller generators.Caller) {
	t.record(r, audit.SignedOut, caller, "")
}

func (t *Trail) record(r *http.Request, kind string, caller generators.Caller, by string) {
	event := audit.Of(kind, caller)
	event.By, event.Address = by, t.addressOf(r)
	t.Log.Record(event)
}

// UsersChanged records that the file of users has changed.
func (t *Trail) UsersChanged(c users.Changes) {
	if len(c.Texts) > 0 {
		t.Log.Record(audit.Event{Kind: audit.UsersChanged, Changes: c.Texts})
	}
}

// Failed records a request whose credentials aren't valid. One without any is no
// attempt to sign in; one that must wait is.
func (t *Trail) Failed(r *http.Request, err error) {
	_, bearer := callers.BearerToken(r)
	var refused *callers.RefusedError
	var tooMany *signin.TooManyError
	wrong := bearer && errors.Is(err, callers.ErrSignInRequired) || errors.As(err, &tooMany)
	if isRefused := errors.As(err, &refused); wrong || isRefused || errors.Is(err, callers.ErrForbidden) {
		by := "token"
		if isRefused {
			by = refused.By
		}
		reason := err.Error()
		if wrong && !isRefused && tooMany == nil {
			reason = "the bearer token is nobody's"
		}
		t.Refused(r, by, reason)
	}
}

// Refused records that somebody could not sign in.
func (t *Trail) Refused(r *http.Request, by, reason string) {
	t.Log.Record(audit.Event{Kind: audit.SignInRefused, By: by, Address: t.addressOf(r), Reason: reason})
}

// addressOf returns the address that a request comes from. If the connection is that of a
// trusted proxy, it is the one that the proxy says.
func (t *Trail) addressOf(r *http.Request) string {
	if from := signin.Address(r, t.TrustedProxies); from.IsValid() {
		return from.String()
	}
	return r.RemoteAddr
}
