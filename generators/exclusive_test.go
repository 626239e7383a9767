package generators_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// Keys that aren't UTF-8 stay what they are, and different, in the JSON of a log.
func TestBinaryExclusiveKeys(t *testing.T) {
	type input struct {
		Env string `json:"env"`
	}
	p := generators.New("deploy", func(context.Context, input, generators.Yield) (string, error) { return "", nil },
		&generators.Options{Exclusive: func(in input) string { d := sha256.Sum256([]byte(in.Env)); return string(d[:1]) }})
	seen := map[string]string{}
	for _, env := range []string{"a", "b", "c", "d", "e", "f"} {
		key, err := driver.ExclusiveKey(p, json.RawMessage(`{"env":"`+env+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(key)
		var recorded string
		if err := json.Unmarshal(raw, &recorded); err != nil || recorded != key {
			t.Errorf("the key of %s is %q, and recorded as %q", env, key, recorded)
		}
		if other := seen[recorded]; other != "" {
			t.Errorf("%s and %s have the key %q", env, other, recorded)
		}
		seen[recorded] = env
	}
}
