package cli

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runs"
)

// listCommand lists photons.
type listCommand struct {
	listFlags
	photonSource
}

// Help returns what --help says besides the flags.
func (*listCommand) Help() string {
	return "The photons are those of this program, or with --server those of another Beam.\n\n    ${program} list\n    ${program} list --output json"
}

// Run lists the photons.
func (c *listCommand) Run(ctx context.Context, p *program) error {
	list, err := c.photons(ctx, p)
	if err != nil {
		return err
	}
	rows := [][]string{{"PHOTON", "DESCRIPTION"}}
	for _, photon := range list {
		about := photon.Title
		if photon.Description != "" {
			about = photon.Description
		}
		rows = append(rows, []string{photon.Name, about})
	}
	return c.print(p, nonNil(list), rows)
}

// photonSource says whose photons are meant.
type photonSource struct {
	Server string `placeholder:"URL" help:"Use the Beam at this address, such as https://tools.example/beam."`
	Token  string `placeholder:"SECRET" help:"The token of that Beam. Set it as $$BEAM_TOKEN to keep it out of the list of processes."`
}

// Validate checks the flags; kong calls it.
func (s *photonSource) Validate() error {
	return (&connectFlags{Server: s.Server}).Validate()
}

// photons returns the photons of the program, or those of the server.
func (s *photonSource) photons(ctx context.Context, p *program) ([]runs.Photon, error) {
	if s.Server != "" {
		conn, err := (&connectFlags{Server: s.Server, Token: s.Token}).connect(ctx, p, readOnly, &localFlags{})
		if err != nil {
			return nil, err
		}
		list, err := conn.Photons(ctx)
		return list, errors.Join(err, conn.close())
	}
	var list []runs.Photon
	for _, photon := range p.registry.All() {
		d, err := runs.Describe(photon)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// showCommand shows a photon.
type showCommand struct {
	Photon string `arg:"" help:"The photon."`
	Output string `env:"-" default:"text" enum:"text,json" placeholder:"FORMAT" help:"text, or json with the schemas (default ${default})."`

	photonSource
}

// Help returns what --help says besides the flags.
func (*showCommand) Help() string {
	return "The parameters are printed as \"${program} run PHOTON --help\" prints them.\n\n    ${program} show countdown\n    ${program} show countdown --output json"
}

// Run shows the photon.
func (c *showCommand) Run(ctx context.Context, p *program) error {
	list, err := c.photons(ctx, p)
	if err != nil {
		return err
	}
	names := make([]string, len(list))
	for i, photon := range list {
		if photon.Name != c.Photon {
			names[i] = photon.Name
			continue
		}
		if c.Output == "json" {
			return printJSON(p, photon)
		}
		return printPhotonHelp(p, photon)
	}
	return usageErrorf("%w %q; there are %s", engine.ErrPhotonNotFound, c.Photon, humanize.List(names, 10))
}
