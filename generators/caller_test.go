package generators_test

import (
	"context"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

func TestCallerOf(t *testing.T) {
	var seen []generators.Caller
	p := generators.New("p", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
		seen = append(seen, generators.CallerOf(ctx))
		return generators.Step(yield, "step", func(ctx context.Context) (string, error) {
			seen = append(seen, generators.CallerOf(ctx))
			return "", nil
		})
	}, nil)
	ctx := driver.WithCaller(t.Context(), generators.Caller{ID: "ada", Roles: []string{"approver"}})
	for _, err := range driver.Prepare(ctx, p, []byte("{}")).All {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range seen {
		if c.ID != "ada" || !c.HasRole("approver") || c.HasRole(generators.RoleOperator) {
			t.Errorf("the caller is %+v", c)
		}
	}
	if len(seen) != 2 || generators.CallerOf(t.Context()).ID != "" {
		t.Errorf("the callers are %+v", seen)
	}
}
