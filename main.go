package beam

import (
	"context"
	"io"
	"os"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cli"
)

// Main runs a program of the given photons: it reads the command line, runs the
// command until it is done or SIGINT or SIGTERM arrives, and exits. A second
// signal ends the program at once. Help and messages use the name under which the
// program was started.
func Main(photons ...*generators.Photon) {
	os.Exit(cli.Main(photons))
}

// Run is [Main] without the process, for a program called beam: it runs the
// command that args name until it is done or ctx ends, and returns the exit
// status: 0 for success, 1 for a failure, and 2 if the command line or a photon
// is wrong.
func Run(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer, photons ...*generators.Photon) int {
	return cli.Run(ctx, args, stdin, stdout, stderr, photons)
}
