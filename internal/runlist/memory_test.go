package runlist_test

import (
	"testing"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlist/runlisttest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
)

func TestMemory(t *testing.T) {
	runlogtest.RunSuite(t, func(*testing.T) runlog.Log { return runlist.NewMemory(runlog.NewMemory(), nil) })
	runlisttest.RunSuite(t, func(*testing.T) runlist.Store { return runlist.NewMemory(runlog.NewMemory(), nil) })
}
