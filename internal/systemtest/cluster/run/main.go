// Command run runs a cluster on this machine until it is interrupted: a database with a
// synchronous standby, three replicas of Beam, and a proxy that sends each request to any of
// them. It prints where all of it is, and how to end a replica.
//
//	run [-program bin/beam] [-replicas 3] [-seed 1] [-fsync=false] [arguments of beam serve]
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o := cluster.Options{Token: rand.Text(), Output: stderr, Postgres: cluster.PostgresOptions{Standby: true}}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.Program, "program", "bin/beam", "Beam, or a program with its commands")
	flags.IntVar(&o.Replicas, "replicas", 3, "how many replicas")
	flags.Uint64Var(&o.Seed, "seed", 1, "the order in which the proxy chooses replicas")
	flags.BoolVar(&o.Postgres.Fsync, "fsync", true, "let commits survive a power failure")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	o.Args = flags.Args()
	if err := serve(ctx, o, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// serve runs a cluster until ctx ends.
func serve(ctx context.Context, o cluster.Options, stdout io.Writer) error {
	c, err := cluster.Start(ctx, o)
	if err != nil {
		return err
	}
	for i, r := range c.Replicas {
		fmt.Fprintf(stdout, "replica %d  pid %-8d http://%s\n", i+1, r.PID(), r.Address())
	}
	for i, pid := range c.Postgres.PIDs() {
		fmt.Fprintf(stdout, "database   pid %-8d %s\n", pid, c.Postgres.Addresses()[i])
	}
	fmt.Fprintf(stdout, "proxy      pid %-8d %s\ntoken      %s\nKill what you like; Ctrl-C ends it all.\n", os.Getpid(), c.URL, o.Token)
	<-ctx.Done()
	return c.Stop()
}
