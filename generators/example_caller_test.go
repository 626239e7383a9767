package generators_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// A photon for operators, which knows who started it and who answered.
func ExampleCallerOf() {
	reset := generators.New("reset", func(ctx context.Context, _ struct{}, yield generators.Yield) (string, error) {
		var by generators.Caller
		_, err := ask.Confirm(yield, "sure", "Reset?", ask.AnsweredBy(&by))
		return fmt.Sprintf("started by %s, answered by %s", generators.CallerOf(ctx).Name, by.Name), err
	}, &generators.Options{Allow: func(c generators.Caller) error {
		if !c.HasRole(generators.RoleOperator) {
			return errors.New("for operators only")
		}
		return nil
	}})

	ada := generators.Caller{ID: "ada", Name: "Ada", Roles: []string{generators.RoleOperator}}
	ctx := beamtest.WithCaller(context.Background(), ada)
	got := beamtest.RunContext(ctx, exampleTest{}, reset, nil, beamtest.Script{"sure": beamtest.Accept(true)})
	fmt.Println(string(got.Result))
	// Output:
	// "started by Ada, answered by Ada"
}
