// Package shipped lists the photons that come with Beam.
package shipped

import (
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/bookdinner"
	"github.com/photon-beam/beam/generators/burst"
	"github.com/photon-beam/beam/generators/countdown"
	"github.com/photon-beam/beam/generators/csv"
	"github.com/photon-beam/beam/generators/disk"
	"github.com/photon-beam/beam/generators/githubuser"
	"github.com/photon-beam/beam/generators/kitchensink"
	"github.com/photon-beam/beam/generators/parallel"
	"github.com/photon-beam/beam/generators/preferences"
	"github.com/photon-beam/beam/generators/summarize"
	"github.com/photon-beam/beam/generators/wizard"
)

// Photons returns all of them in the order of their names.
func Photons() []*generators.Photon {
	return []*generators.Photon{
		preferences.Photon,
		bookdinner.Photon,
		burst.Photon,
		countdown.Photon,
		disk.Photon,
		csv.Photon,
		githubuser.Photon,
		kitchensink.Photon,
		parallel.Photon,
		summarize.Photon,
		wizard.Photon,
	}
}
