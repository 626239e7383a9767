package generators_test

import (
	"context"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

func TestRoot(t *testing.T) {
	allowed := driver.WithRoot(t.Context(), "/srv/files")
	for name, test := range map[string]struct {
		ctx  context.Context
		want string
	}{
		"none":      {t.Context(), ""},
		"one":       {allowed, "/srv/files"},
		"another":   {driver.WithRoot(allowed, "/tmp"), "/tmp"},
		"withdrawn": {driver.WithRoot(allowed, ""), ""},
	} {
		if dir, ok := generators.Root(test.ctx); dir != test.want || ok != (test.want != "") {
			t.Errorf("%s: got %q, %t; want %q", name, dir, ok, test.want)
		}
	}
}

// The generator, its goroutines and its steps can get the root from their contexts.
func TestRootReachesGenerator(t *testing.T) {
	p := photon(func(ctx context.Context, yield generators.Yield) (int, error) {
		done := make(chan struct{})
		reportRoot := func(ctx context.Context) {
			dir, _ := generators.Root(ctx)
			yield(generators.Status(dir))
		}
		reportRoot(ctx)
		generators.Go(yield, func(ctx context.Context, _ generators.Yield) { defer close(done); reportRoot(ctx) })
		<-done
		return generators.Step(yield, "step", func(ctx context.Context) (int, error) { reportRoot(ctx); return 1, nil })
	})
	events, _, err := drive(driver.WithRoot(t.Context(), "/srv/files"), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := statusTexts(events); len(got) != 3 || got[0] != "/srv/files" || got[1] != got[0] || got[2] != got[0] {
		t.Errorf("the folders are %q", got)
	}
}
