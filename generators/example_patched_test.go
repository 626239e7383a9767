package generators_test

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/generators"
)

// Runs that wait since before the change go on without the new step.
func ExamplePatched() {
	pay := generators.New("pay", func(_ context.Context, amount struct{ Cents int }, yield generators.Yield) (string, error) {
		if generators.Patched(yield, "check-limit") && amount.Cents > 100_00 {
			return "too much", nil
		}
		return "paid", nil
	}, &generators.Options{Durable: true})
	for event := range pay.Run(context.Background(), []byte(`{"Cents": 20000}`)) {
		if r, ok := event.(*generators.Result); ok {
			fmt.Println(string(r.Value))
		}
	}
	// Output: "too much"
}
