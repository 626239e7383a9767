// Package shipped lists the photons that come with Beam.
package shipped

import (
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/bookdinner"
	"github.com/photon-beam/beam/generators/shipped/burst"
	"github.com/photon-beam/beam/generators/shipped/countdown"
	"github.com/photon-beam/beam/generators/shipped/csv"
	"github.com/photon-beam/beam/generators/shipped/disk"
	"github.com/photon-beam/beam/generators/shipped/githubuser"
	"github.com/photon-beam/beam/generators/shipped/kitchensink"
	"github.com/photon-beam/beam/generators/shipped/parallel"
	"github.com/photon-beam/beam/generators/shipped/preferences"
	"github.com/photon-beam/beam/generators/shipped/summarize"
	"github.com/photon-beam/beam/generators/shipped/wizard"
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
