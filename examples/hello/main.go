// Command hello is a complete program with one photon. Start it with
// go run ./examples/hello, and open the address that it prints.
package main

import (
	"context"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

func hello(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
	yield(generators.Status("Somebody is at the door"))
	name, err := ask.Text(yield, "name", "Who is there?", ask.Length(1, 40))
	if err != nil {
		return "", err // declined, canceled, stopped
	}
	return "Hello, " + name + "!", nil
}

func main() { beam.Main(generators.New("hello", hello, nil)) }
