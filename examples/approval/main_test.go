package main

import (
	"errors"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

func TestDeploy(t *testing.T) {
	ben := generators.Caller{ID: "user:ben", Name: "ben", Roles: []string{"ops"}}
	in := target{Service: "shop", Version: "1.2"}
	o := beamtest.Replay(t, deploy, in, beamtest.Script{"approve": beamtest.Accept(true).As(ben)})
	if got := beamtest.Decode[release](t, o); got != (release{"shop", "1.2", "ben"}) {
		t.Errorf("deployed %+v", got)
	}
	o = beamtest.Run(t, deploy, in, beamtest.Script{"approve": beamtest.Decline().As(ben)})
	if !errors.Is(o.Err, ask.ErrDeclined) {
		t.Errorf("declined: %v", o.Err)
	}
}
