package runcmd

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/internal/cli/command"
)

// List lists photons.
type List struct {
	listFlags
	sourceFlags
}

// Help returns what --help says besides the flags.
func (*List) Help() string {
	return `The photons are those that "${program} run" would run: of the Beam that owns the data folder, such as ${program} serve; if there is none, of this program and of the MCP servers of --mcp-config, or that "${program} upstream add" added; and with --server, of the Beam at that address.

    ${program} list
    ${program} list --output json`
}

// Run lists the photons.
func (c *List) Run(ctx context.Context, p *command.Program) error {
	list, err := c.source().list(ctx, p)
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

// sourceFlags say whose photons are meant.
type sourceFlags struct {
	MCPConfig []string `name:"mcp-config" placeholder:"FILE" type:"path" sep:"none" help:"File that names other MCP servers, whose tools are photons, if no Beam owns the data folder. Can be repeated."`

	connectFlags
}

// Validate checks the flags; kong calls it.
func (c *sourceFlags) Validate() error {
	return errors.Join(c.connectFlags.Validate(), (&command.UpstreamFlags{MCPConfig: c.MCPConfig, ElicitationMaxConcurrent: 1}).CheckFlags())
}

func (c *sourceFlags) source() *photonSource {
	return &photonSource{connectFlags: c.connectFlags, mcpConfig: c.MCPConfig}
}

// Show shows a photon.
type Show struct {
	Photon string `arg:"" help:"The photon."`
	Output string `env:"-" default:"text" enum:"text,json" placeholder:"FORMAT" help:"text, or json with the schemas (default ${default})."`

	sourceFlags
}

// Help returns what --help says besides the flags.
func (*Show) Help() string {
	return "The parameters are printed as \"${program} run PHOTON --help\" prints them.\n\n    ${program} show ${photon}\n    ${program} show ${photon} --output json"
}

// Run shows the photon.
func (c *Show) Run(ctx context.Context, p *command.Program) error {
	photon, err := c.source().find(ctx, p, c.Photon)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return command.PrintJSON(p, photon)
	}
	return printPhotonHelp(p, photon)
}
