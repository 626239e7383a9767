package githubuser_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/githubuser"
)

func run(t *testing.T, response beamtest.Response) *beamtest.Outcome {
	t.Helper()
	return beamtest.Run(t, githubuser.Photon, "{}", beamtest.Script{"name": response})
}

func TestProfile(t *testing.T) {
	p := beamtest.Replay(t, githubuser.Photon, nil, beamtest.Script{"name": beamtest.Accept("octocat")})
	got := beamtest.Decode[githubuser.Profile](t, p)
	if want := (githubuser.Profile{Name: "octocat", URL: "https://github.com/octocat"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNames(t *testing.T) {
	for name, legal := range map[string]bool{
		"a": true, "A-1": true, strings.Repeat("x", 39): true,
		"": false, "-a": false, "a-": false, "a--b": false, "a_b": false, "a/b": false, "a b": false,
		strings.Repeat("x", 40): false,
	} {
		p := run(t, beamtest.Accept(name))
		var invalid *generators.InvalidError
		if refused := errors.As(p.Err, &invalid); refused == legal {
			t.Errorf("name %q: refused = %t (%v)", name, refused, p.Err)
		}
	}
}

func TestUnansweredQuestion(t *testing.T) {
	for want, response := range map[error]beamtest.Response{
		ask.ErrDeclined:    beamtest.Decline(),
		ask.ErrCancelled:   beamtest.Cancel(),
		ask.ErrTimeout:     beamtest.Fail(ask.ErrTimeout),
		ask.ErrUnsupported: beamtest.Fail(ask.ErrUnsupported),
	} {
		if p := run(t, response); !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("got %s, %v; want %v", p.Result, p.Err, want)
		}
	}
}
