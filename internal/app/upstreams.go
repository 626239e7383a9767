package app

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// newUpstreams makes the manager of the upstreams, which registers their tools as
// photons. The error has everything that is wrong with the files that define them.
func (a *App) newUpstreams(c Config) (err error) {
	a.upstreamFiles = c.UpstreamFiles
	servers, err := config.Load(a.upstreamFilesNow()...)
	if err != nil {
		return err
	}
	policy := upstream.PolicyOptions{State: a.store.State, Elicitation: c.Elicitation, Meter: a.metrics, Logger: c.Logger}
	if !c.Folder.Temporary {
		a.upstreamAudit, err = upstream.OpenAudit(c.Folder.Dir, func(err error) { c.Logger.Error("writing the audit file of upstreams", "err", err) })
		if err != nil {
			return err
		}
		policy.Audit = a.upstreamAudit
	}
	a.upstreams, err = upstream.NewManager(upstream.Options{
		Servers: servers, Photons: c.Photons, Policy: policy, OwnFile: a.ownUpstreamFile(),
		SamplingAvailable: true, // a person can answer in the model's place
		RootsAvailable:    true, // likewise
		IsOwnAddress:      a.ownPages.has,
		Name:              "beam", Version: Version(), Logger: c.Logger,
	})
	if err != nil {
		return err
	}
	a.supervisor.manager.Store(a.upstreams)
	a.supervisor.audit.Store(a.upstreamAudit)
	a.metrics.RegisterUpstreams(a.upstreams.Status)
	return nil
}

// ownUpstreamFile returns the folder's own file of upstreams, which may not exist; empty
// if the folder has none.
func (a *App) ownUpstreamFile() string {
	if a.folder.Temporary {
		return ""
	}
	return UpstreamFile(a.folder.Dir)
}

// upstreamFilesNow returns the files that define the upstreams: the folder's own if it
// exists.
func (a *App) upstreamFilesNow() []string {
	own := a.ownUpstreamFile()
	if _, err := os.Stat(own); own == "" || errors.Is(err, fs.ErrNotExist) {
		return a.upstreamFiles
	}
	return append(slices.Clip(a.upstreamFiles), own)
}
