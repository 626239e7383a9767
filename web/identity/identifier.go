package identity

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
)

// ErrNotSignedIn means that the program that embeds Beam knows no caller of a request.
var ErrNotSignedIn = errors.New("you are not signed in")

// An Identifier returns the caller of a request for the program that embeds Beam. There
// are then no sessions, codes and tokens. Its error means that the request has no
// caller or, if it is [callers.ErrForbidden], one who may not use Beam. It may be called
// from several goroutines at once.
type Identifier func(*http.Request) (generators.Caller, error)

var _ callers.Authenticator = Identifier(nil)

// Authenticate implements [callers.Authenticator]. The error is [ErrNotSignedIn],
// [callers.ErrForbidden], or says what is wrong with the caller.
func (f Identifier) Authenticate(r *http.Request) (generators.Caller, error) {
	c, err := f(r)
	switch {
	case errors.Is(err, callers.ErrForbidden):
		return generators.Caller{}, callers.ErrForbidden
	case err != nil:
		return generators.Caller{}, ErrNotSignedIn
	}
	return callers.Check(c)
}
