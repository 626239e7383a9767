package generators

import (
	"context"

	"github.com/photon-beam/beam/internal/runaddress"
)

// RunURL returns the address of the page of the run that ctx belongs to, for a message that
// the photon sends somebody, who can follow the run there and answer. It carries no
// authority: whoever opens it signs in. It is empty if Beam doesn't know where its pages
// are, as over stdio before somebody needed one, and in tests. It may be another one after
// a restart.
func RunURL(ctx context.Context) string { return runaddress.Of(ctx) }
