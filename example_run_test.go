package beam_test

import (
	"context"
	"fmt"
	"os"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
)

// A program that decides itself when Beam ends, and what follows.
func ExampleRun() {
	hello := generators.New("hello", func(context.Context, struct{}, generators.Yield) (string, error) { return "Hello!", nil }, nil)
	status := beam.Run(context.Background(), []string{"check", "--data", "/no/such/folder"}, os.Stdin, os.Stdout, os.Stdout, hello)
	fmt.Println("status", status)
	// Output:
	// beam: /no/such/folder contains no runs
	// status 1
}
