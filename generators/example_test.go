package generators_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A shop takes an order once, however often it is sent: it knows the key.
func ExampleIdempotencyKey() {
	seen := map[string]bool{}
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if !seen[key] {
			seen[key] = true
			w.WriteHeader(http.StatusBadGateway) // the order is taken, and nobody is told
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
			return "", fmt.Errorf("the shop says %s", res.Status)
		}
		return "ordered", nil
	}
	photon := generators.New("order", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		return generators.Step(yield, "order", order, generators.Retries(1, 0))
	}, nil)

	result, err := ask.Driver{}.Run(context.Background(), photon, json.RawMessage(`{}`))
	fmt.Println(string(result), err)
	fmt.Println(len(seen), "order was taken")
	// Output:
	// "ordered" <nil>
	// 1 order was taken
}
