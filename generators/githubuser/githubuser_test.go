package githubuser_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/githubuser"
	"github.com/photon-beam/beam/generators/internal/photontest"
)

func run(t *testing.T, response photontest.Response) *photontest.Outcome {
	t.Helper()
	return photontest.Runner{Script: photontest.Script{"name": response}}.Run(t, githubuser.Photon, "{}")
}

func TestProfile(t *testing.T) {
	p := run(t, photontest.Accept(`{"name":"octocat"}`))
	got := photontest.Decode[githubuser.Profile](t, p)
	if want := (githubuser.Profile{Name: "octocat", URL: "https://github.com/octocat"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	photontest.CheckPhoton(t, githubuser.Photon)
	photontest.GoldenPhoton(t, githubuser.Photon, p)
}

func TestNames(t *testing.T) {
	for name, legal := range map[string]bool{
		"a": true, "A-1": true, strings.Repeat("x", 39): true,
		"": false, "-a": false, "a-": false, "a--b": false, "a_b": false, "a/b": false, "a b": false,
		strings.Repeat("x", 40): false,
	} {
		p := run(t, photontest.Accept(`{"name":"`+name+`"}`))
		var invalid *generators.InvalidError
		if refused := errors.As(p.Err, &invalid); refused == legal {
			t.Errorf("name %q: refused = %t (%v)", name, refused, p.Err)
		}
	}
}

func TestUnansweredQuestion(t *testing.T) {
	for want, response := range map[error]photontest.Response{
		ask.ErrDeclined:    photontest.Decline(),
		ask.ErrCancelled:   photontest.Cancel(),
		ask.ErrTimeout:     photontest.Fail(ask.ErrTimeout),
		ask.ErrUnsupported: photontest.Fail(ask.ErrUnsupported),
	} {
		if p := run(t, response); !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("got %s, %v; want %v", p.Result, p.Err, want)
		}
	}
}
