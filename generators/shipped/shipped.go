// Package shipped lists the photons that come with Beam.
package shipped

import (
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/bookdinner"
	"github.com/photon-beam/beam/generators/csv"
	"github.com/photon-beam/beam/generators/githubuser"
	"github.com/photon-beam/beam/generators/kitchensink"
	"github.com/photon-beam/beam/generators/preferences"
	"github.com/photon-beam/beam/generators/wizard"
)

// Photons returns them all, by name.
func Photons() []*generators.Photon {
	return []*generators.Photon{
		preferences.Photon,
		bookdinner.Photon,
		csv.Photon,
		githubuser.Photon,
		kitchensink.Photon,
		wizard.Photon,
	}
}
