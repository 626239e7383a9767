package generators_test

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A photon that tells a team's chat where its question can be answered.
func ExampleRunURL() {
	post := func(_ context.Context, text string) error { return nil } // to the chat
	release := generators.New("release", func(ctx context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		_, err := generators.Step(yield, "tell", func(ctx context.Context) (bool, error) {
			return true, post(ctx, "May this be released? "+generators.RunURL(ctx))
		})
		if err != nil {
			return false, err
		}
		return ask.Confirm(yield, "release", "Release?")
	}, &generators.Options{Durable: true})
	fmt.Println(release.Name())
	// Output: release
}
