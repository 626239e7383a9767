// Command approval deploys once somebody else has approved: four eyes.
//
//	go run ./examples/approval user add ada --users people.json
//	go run ./examples/approval user add ben --role ops --users people.json
//	go run ./examples/approval --users people.json
package main

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

func main() { beam.Main(deploy) }

// target says where to deploy what.
type target struct {
	Service string `json:"service" title:"Service"`
	Version string `json:"version" title:"Version"`
}

// release is what was deployed, and who approved it.
type release struct {
	Service  string `json:"service"`
	Version  string `json:"version"`
	Approved string `json:"approved"`
}

var deploy = generators.New("deploy", func(_ context.Context, in target, yield generators.Yield) (release, error) {
	plan, err := generators.Step(yield, "plan", func(context.Context) (string, error) {
		return fmt.Sprintf("- image: %[1]s:current\n+ image: %[1]s:%[2]s\n", in.Service, in.Version), nil
	})
	if err != nil {
		return release{}, err
	}
	var approver generators.Caller
	ok, err := ask.Confirm(yield, "approve", fmt.Sprintf("Deploy %s %s?", in.Service, in.Version),
		ask.From(ask.Role("ops"), ask.User("grace")), ask.NotCaller(), ask.AnsweredBy(&approver),
		ask.Destructive(), ask.Showing(generators.Code("Plan", "diff", plan)))
	if err != nil || !ok {
		return release{}, err
	}
	return generators.Step(yield, "deploy", func(context.Context) (release, error) {
		return release{in.Service, in.Version, approver.Name}, nil
	})
}, &generators.Options{Title: "Deploy", Durable: true})
