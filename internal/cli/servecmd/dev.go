package servecmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/dev"
	"github.com/photon-beam/beam/internal/links"
)

// Dev runs a program of photons, and builds it again when its source changes.
type Dev struct {
	Dir  string `arg:"" optional:"" default:"." help:"The folder of the program's package main (default: this folder)."`
	Addr string `default:"127.0.0.1:3008" placeholder:"HOST:PORT" help:"Address on this machine where the program serves the playground (default ${default})."`
	Data string `default:"" placeholder:"DIR" type:"path" help:"The program's data folder. By default, the one that all programs made with Beam share."`
}

// Help returns what --help says besides the flags.
func (*Dev) Help() string {
	return `Builds and serves the program, and does so again whenever something changes that it is made of: Go files, embedded files, go.mod, go.sum and go.work, also of other modules that go.mod replaces by folders. Open pages reconnect, and durable runs that wait continue with the new code, or say which call changed. What can't be built is shown here and on the pages. Ctrl-C ends the program and this command.

    ${program} new greet
    ${program} dev greet
    BEAM_ROOT=~/projects ${program} dev greet --addr 127.0.0.1:4000   flags of ${program} serve are variables here`
}

// Validate checks the flags; kong calls it.
func (c *Dev) Validate() error {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil || port == "0" || !links.IsLoopback(host) {
		return fmt.Errorf("--addr %q must be HOST:PORT on this machine, as in 127.0.0.1:3008", c.Addr)
	}
	return nil
}

// Run serves the program until ctx ends.
func (c *Dev) Run(ctx context.Context, p *command.Program) error {
	args := []string{"serve", "--addr", c.Addr}
	if c.Data != "" {
		args = append(args, "--data", c.Data)
	}
	loop := dev.Loop{Folder: c.Dir, Addr: c.Addr, Args: args, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Say: p.Messagef}
	err := loop.Run(ctx)
	if errors.Is(err, syscall.EADDRINUSE) {
		return explainListenError(c.Addr, err)
	}
	return err
}
