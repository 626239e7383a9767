// Command program is a program that is upgraded while its runs wait. Build another version of it
// with -ldflags "-X main.version=wrong".
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// The versions.
const (
	first = "first"
	// Runs of the first version fit the second.
	second = "second"
	// In the wrong version, another question comes first.
	wrong = "wrong"
	// In the version without them, there are other photons.
	gone = "gone"
	// In the slow version, code outside of steps takes long.
	slow = "slow"
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
	plan, err := generators.Step(yield, "plan", func(ctx context.Context) (string, error) { return note(ctx, "plan") })
	if err != nil {
		return "", err
	}
	if version == wrong {
		if _, err := ask.Text(yield, "review", "Who reviews it?"); err != nil {
			return "", err
		}
	}
	if version == second {
		yield(generators.Status("has a plan"))
	}
	who, err := ask.Text(yield, "approve", "Who approves "+in.Env+"?")
	if err != nil {
		return "", err
	}
	applied, err := generators.Step(yield, "apply", func(ctx context.Context) (string, error) { return note(ctx, "apply") })
	if err != nil {
		return "", err
	}
	told, err := ask.Text(yield, "announce", "Who is told?")
	return plan + " " + who + " " + applied + " " + told, err
}, &generators.Options{Title: "Deploy", Durable: true})

var draft = generators.New("draft", func(_ context.Context, in target, yield generators.Yield) (string, error) {
	if version == wrong {
		if _, err := ask.Text(yield, "topic", "About what?"); err != nil {
			return "", err
		}
	}
	reply, err := ask.Sample(yield, "text", ask.SampleRequest{MaxTokens: 100, Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Write about " + in.Env))}})
	return reply.Text(), err
}, &generators.Options{Title: "Draft", Durable: true})

// note notes in the file $BEAM_TEST_LEDGER that a step runs, with a new token, which it returns.
func note(ctx context.Context, step string) (token string, err error) {
	token = rand.Text()
	name := os.Getenv("BEAM_TEST_LEDGER")
	if name == "" {
		return token, nil
	}
	ledger, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer ledger.Close()
	_, err = fmt.Fprintln(ledger, generators.IdempotencyKey(ctx), step, token)
	return token, err
}
