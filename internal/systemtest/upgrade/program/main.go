// Command program is a program that is upgraded while runs wait: go build -ldflags "-X
// main.version=wrong" builds another version of its photons.
package main

import (
	"context"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// The versions. Runs of the first fit the second, and not the wrong one.
const (
	first = "first"
	wrong = "wrong" // another question comes first
	gone  = "gone"  // no photon is left
	slow  = "slow"  // code outside of steps takes long
)

var version = first

func main() {
	if version == gone {
		beam.Main(generators.New("other", func(context.Context, struct{}, generators.Yield) (string, error) { return "", nil }, nil))
		return
	}
	beam.Main(deploy, draft)
}

type target struct {
	Env string `json:"env"`
}

var deploy = generators.New("deploy", func(ctx context.Context, in target, yield generators.Yield) (string, error) {
	if version == slow {
		time.Sleep(10 * time.Second)
	}
	if version == wrong {
		if _, err := ask.Text(yield, "review", "Who reviews it?"); err != nil {
			return "", err
		}
	}
	who, err := ask.Text(yield, "approve", "Who approves "+in.Env+"?")
	if err != nil {
		return "", err
	}
	return generators.Step(yield, "apply", func(context.Context) (string, error) { return in.Env + " by " + who, nil })
}, &generators.Options{Title: "Deploy", Durable: true})

var draft = generators.New("draft", func(_ context.Context, in target, yield generators.Yield) (string, error) {
	if version == wrong {
		if _, err := ask.Text(yield, "topic", "About what?"); err != nil {
			return "", err
		}
	}
	reply, err := ask.Sample(yield, "text", ask.SampleRequest{MaxTokens: 100, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Write about " + in.Env))}})
	if err != nil {
		return "", err
	}
	return reply.Text(), nil
}, &generators.Options{Title: "Draft", Durable: true})
