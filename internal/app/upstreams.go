package app

import "github.com/photon-beam/beam/internal/upstream"

// newUpstreams makes the manager of the upstreams, which registers their tools as
// photons.
func (a *App) newUpstreams(c Config) (err error) {
	policy := upstream.PolicyOptions{Elicitation: c.Elicitation, Logger: c.Logger}
	if !c.Folder.temporary {
		policy.Dir = c.Folder.dir
	}
	a.upstreams, err = upstream.NewManager(upstream.Options{
		Servers: c.Upstreams, Photons: c.Photons, Policy: policy,
		SamplingAvailable: true, // a person can answer in the model's place
		RootsAvailable:    true, // likewise
		Name:              "beam", Version: Version(), Logger: c.Logger,
	})
	return err
}
