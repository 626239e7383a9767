package client

import (
	"slices"
	"testing"
)

// A child gets what programs need, and no secret of Beam or of another server.
func TestChildEnv(t *testing.T) {
	t.Setenv("PATH", "/bin")
	t.Setenv("LC_TIME", "C")
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("BEAM_TOKEN", "secret")
	env := childEnv(map[string]string{"KEY": "own"})
	for _, want := range []string{"PATH=/bin", "LC_TIME=C", "KEY=own"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	for _, secret := range []string{"OPENAI_API_KEY=secret", "BEAM_TOKEN=secret"} {
		if slices.Contains(env, secret) {
			t.Errorf("the child gets %s", secret)
		}
	}
}
