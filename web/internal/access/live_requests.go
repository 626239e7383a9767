package access

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
)

// LiveRequests are the requests in progress and who sends them. When it changes who may
// use the server, those end whose caller is no longer the same. It is safe for concurrent
// use.
type LiveRequests struct {
	mu       sync.Mutex
	requests map[*liveRequest]struct{}
	rechecks int // how often who may use the server has changed
}

type liveRequest struct {
	request *http.Request
	caller  generators.Caller
	by      callers.Authenticator
	end     context.CancelCauseFunc
}

// errSignedOut is the cause of the context of a request whose caller has been signed out.
var errSignedOut = errors.New("the caller has been signed out")

// NewLiveRequests returns no requests.
func NewLiveRequests() *LiveRequests {
	return &LiveRequests{requests: make(map[*liveRequest]struct{})}
}

// Now returns a number that changes whenever who may use the server does.
func (l *LiveRequests) Now() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rechecks
}

// Add adds a request of a caller whom an authenticator knew after a time (see
// [LiveRequests.Now]), until done is called, and returns it with a context that ends when
// the caller is signed out.
func (l *LiveRequests) Add(r *http.Request, caller generators.Caller, by callers.Authenticator, after int) (_ *http.Request, done func()) {
	ctx, end := context.WithCancelCause(r.Context())
	live := &liveRequest{r, caller, by, end}
	l.mu.Lock()
	l.requests[live] = struct{}{}
	changed := l.rechecks != after
	l.mu.Unlock()
	if changed { // too late for Recheck to have seen the request
		live.check()
	}
	return r.WithContext(ctx), func() {
		end(nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.requests, live)
	}
}

// Recheck ends the requests whose callers aren't what they were.
func (l *LiveRequests) Recheck() {
	l.mu.Lock()
	l.rechecks++
	var all []*liveRequest
	for live := range l.requests {
		all = append(all, live)
	}
	l.mu.Unlock()
	for _, live := range all {
		live.check()
	}
}

// check ends the request if its caller isn't what it was.
func (live *liveRequest) check() {
	now, err := live.by.Authenticate(live.request)
	isAnonymous := errors.Is(err, callers.ErrNoCredentials) && !callers.IsSignedIn(live.caller)
	if !isAnonymous && (err != nil || now.ID != live.caller.ID || !slices.Equal(now.Roles, live.caller.Roles)) {
		live.end(errSignedOut)
	}
}
