package generators_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// The shop accepts a repeated order only once, because it recognizes the key.
func ExampleIdempotencyKey() {
	seen := map[string]bool{}
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if !seen[key] {
			seen[key] = true
			w.WriteHeader(http.StatusBadGateway) // the order is accepted, but the client doesn't learn it
		}
	}))
	defer shop.Close()

	order := func(ctx context.Context) (string, error) {
		r, err := http.NewRequestWithContext(ctx, "POST", shop.URL, nil)
		if err != nil {
			return "", err
		}
		r.Header.Set("Idempotency-Key", generators.IdempotencyKey(ctx)) // ctx is the step's
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return "", fmt.Errorf("the shop responded %s", res.Status)
		}
		return "ordered", nil
	}
	photon := generators.New("order", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		return generators.Step(yield, "order", order, generators.Retries(1, 0))
	}, nil)

	for event, err := range photon.Run(context.Background(), json.RawMessage(`{}`)) {
		if result, ok := event.(*generators.Result); ok {
			fmt.Println(string(result.Value), err)
		}
	}
	fmt.Println(len(seen), "order was accepted")
	// Output:
	// "ordered" <nil>
	// 1 order was accepted
}

// A step runs once. When a durable run continues after a restart, the step's recorded
// value or error is returned instead.
func ExampleStep() {
	tries := 0
	book := generators.New("book", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		number, err := generators.Step(yield, "reserve", func(context.Context) (int, error) {
			if tries++; tries < 3 {
				return 0, errors.New("the desk is busy")
			}
			return 4711, nil
		}, generators.Retries(2, 0))
		if err != nil {
			return "", err
		}
		_, err = generators.Step(yield, "pay", func(context.Context) (bool, error) { return false, errors.New("no money") })
		var failed *generators.StepError
		if errors.As(err, &failed) {
			return fmt.Sprintf("reserved %d, but %s: %s", number, failed.Key, failed.Message), nil
		}
		return "paid", err
	}, &generators.Options{Durable: true, Version: "1"})

	got := beamtest.Run(exampleTest{}, book, nil, nil)
	fmt.Println(string(got.Result))
	for _, s := range got.Steps {
		fmt.Printf("%s: %s%s\n", s.Key, s.Value, s.Error)
	}
	// Output:
	// "reserved 4711, but pay: no money"
	// reserve: 4711
	// pay: no money
}
