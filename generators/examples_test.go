package generators_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/registry"
)

// Examples are checked against the input schema when the photon is registered.
func TestExamples(t *testing.T) {
	type input struct {
		Count int `json:"count" minimum:"1"`
	}
	register := func(examples ...any) (*generators.Photon, error) {
		p := generators.New("p", func(context.Context, input, generators.Yield) (int, error) { return 0, nil }, &generators.Options{Examples: examples})
		_, err := registry.NewRegistry(p)
		return p, err
	}
	p, err := register(input{Count: 2}, map[string]any{"count": 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"count":2}`, `{"count":3}`} {
		if got := p.Options().Examples[i].(json.RawMessage); string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, bad := range []any{input{}, "text", func() {}} {
		if _, err := register(input{Count: 1}, bad); err == nil || !strings.Contains(err.Error(), "its example 2:") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
