package smallstate_test

import (
	"testing"

	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/smallstate/smallstatetest"
)

func TestMemory(t *testing.T) {
	smallstatetest.RunSuite(t, func(*testing.T) func() smallstate.Store {
		m := smallstate.NewMemory()
		return func() smallstate.Store { return m }
	})
}
