package oauth

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
)

// A Grant is what a valid access token grants: to act as a caller, at one resource.
type Grant struct {
	generators.Caller

	verifier        *Verifier
	token, resource string
	expires         time.Time // when the token is refused; zero if the issuer doesn't say
}

// ErrEnded is the cause of a context whose grant has ended.
var ErrEnded = errors.New("the access token has expired or was revoked")

// How often the token of a request in progress is verified again, and how long that may
// fail because the issuer can't be reached.
const (
	verifyAgainAfter = rememberActive
	unreachableFor   = freshFor
)

// While returns a context that ends once a request with the token would be refused, or
// have another caller: at the token's expiry and, since issuers tell nobody of a change, at
// most [verifyAgainAfter] after the token is revoked or its roles change. While the issuer
// can't be reached, it lasts for [unreachableFor]. The caller of While calls stop.
func (g Grant) While(ctx context.Context) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	verified := time.Now()
	var again *time.Timer
	started := make(chan struct{})
	again = time.AfterFunc(g.wait(), func() {
		<-started
		now, err := g.verifier.Verify(ctx, g.token, g.resource)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errUnavailable) && time.Since(verified) < unreachableFor && !g.hasExpired():
		case err != nil || now.ID != g.ID || !slices.Equal(now.Roles, g.Roles):
			end(ErrEnded)
			return
		default:
			verified, g.expires = time.Now(), now.expires
		}
		again.Reset(g.wait())
	})
	close(started)
	return ctx, func() { end(nil); again.Stop() }
}

// wait returns how long to wait until the token is verified again.
func (g Grant) wait() time.Duration {
	if g.expires.IsZero() {
		return verifyAgainAfter
	}
	return max(time.Millisecond, min(verifyAgainAfter, time.Until(g.expires)))
}

func (g Grant) hasExpired() bool { return !g.expires.IsZero() && !time.Now().Before(g.expires) }
