package ui

import (
	"strconv"

	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/humanize"
)

// count returns a number of runs.
func (p ReplicasPage) count(n int) string {
	if p.Uncounted {
		return "?"
	}
	return humanize.Thousands(n)
}

// describeProgram says whether a replica runs the same program as this one.
func describeProgram(r sharing.ReplicaStatus) string {
	switch {
	case r.Self:
		return "this one"
	case r.SameProgram:
		return "the same"
	}
	return "another one"
}

// describeUnclaimable says why nobody takes the runs of a photon.
func describeUnclaimable(u sharing.Unclaimable) string {
	if u.Registered {
		return "Their replica is gone, and no other has claimed them yet."
	}
	return "No replica that is alive has this photon."
}

// describeHolder names the replica that holds a run.
func describeHolder(h *sharing.Holder) string {
	name := shortID(h.ID)
	if h.Host != "" {
		name = h.Host + ", process " + strconv.Itoa(h.PID)
	}
	if h.Gone {
		name += ", which is gone"
	}
	return name
}
