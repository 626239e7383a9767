package access

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
)

// somebody authenticates every request as the caller that it points to.
type somebody struct{ caller *generators.Caller }

func (s somebody) Authenticate(*http.Request) (generators.Caller, error) {
	if s.caller.ID == "" {
		return generators.Caller{}, callers.ErrNoCredentials
	}
	return *s.caller, nil
}

// A request ends if its caller loses access or a role, also between being authenticated
// and being added; others go on.
func TestLiveRequests(t *testing.T) {
	request := new(http.Request).WithContext(t.Context())
	ops := generators.Caller{ID: "user:ada", Roles: []string{"ops"}}
	for name, tt := range map[string]struct {
		before, after generators.Caller
		ends          bool
	}{
		"nothing changes":  {ops, ops, false},
		"a role is gone":   {ops, generators.Caller{ID: "user:ada"}, true},
		"somebody else":    {ops, generators.Caller{ID: "user:ben", Roles: []string{"ops"}}, true},
		"nobody":           {ops, generators.Caller{}, true},
		"an anonymous one": {callers.Session("x"), generators.Caller{}, false},
	} {
		for _, early := range []bool{false, true} {
			l, now := NewLiveRequests(), tt.before
			began := l.Now()
			change := func() { now = tt.after; l.Recheck() }
			if early {
				change()
			}
			r, done := l.Add(request, tt.before, somebody{&now}, began)
			if !early {
				change()
			}
			if ended := errors.Is(context.Cause(r.Context()), errSignedOut); ended != tt.ends {
				t.Errorf("%s (early: %v): ended: %v", name, early, ended)
			}
			if done(); len(l.requests) != 0 {
				t.Errorf("%s: requests are kept", name)
			}
		}
	}
}
