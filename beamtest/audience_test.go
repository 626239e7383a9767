package beamtest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// A script responds as people who may answer, and the test fails for others.
func TestRespondingAsAPerson(t *testing.T) {
	photon := newPhoton(func(_ context.Context, yield generators.Yield) (bool, error) {
		var by generators.Caller
		ok, err := ask.Confirm(yield, "go", "Go?", ask.From(ask.Role("ops")), ask.NotCaller(), ask.AnsweredBy(&by))
		return ok && by.ID == "user:ben", err
	})
	for name, tt := range map[string]struct {
		response beamtest.Response
		want     string // in the failure
	}{
		"one of them":         {beamtest.Accept(true).As(generators.Caller{ID: "user:ben", Roles: []string{"ops"}}), ""},
		"who started the run": {beamtest.Accept(true), `the script responds to "go" as "test", but the question is for a person with the role ops, but not the person who started the run`},
		"another":             {beamtest.Decline().As(generators.Caller{ID: "user:cleo"}), `as "user:cleo"`},
		"an operator":         {beamtest.Accept(true).As(generators.Caller{ID: "operator", Roles: []string{generators.RoleOperator}}), `as "operator"`},
		"nobody":              {beamtest.Fail(ask.ErrUnsupported), ""},
	} {
		run := func(t testing.TB) { beamtest.Run(t, photon, nil, beamtest.Script{"go": tt.response}) }
		replay := func(t testing.TB) { beamtest.Replay(t, photon, nil, beamtest.Script{"go": tt.response}) }
		for _, test := range []func(testing.TB){run, replay} {
			if got := failures(t, test); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%s: the test reports %q, want %q", name, got, tt.want)
			}
		}
	}
	ben := beamtest.Accept(true).As(generators.Caller{ID: "user:ben", Roles: []string{"ops"}})
	if o := beamtest.Run(t, photon, nil, beamtest.Script{"go": ben}); !beamtest.Decode[bool](t, o) {
		t.Errorf("the photon isn't told who answered: %s, %v", o.Result, o.Err)
	}
}
