package engine

import (
	"cmp"
	"time"
)

// Limits bound what runs may use. A zero field means its default, which each
// field's comment gives last.
type Limits struct {
	MaxEvents           int           // events of a run; 250,000
	MaxLogBytes         int64         // bytes of a run's log; 64 MiB
	MaxArtifactBytes    int64         // bytes of an artifact; 64 MiB
	MaxBlobBytes        int64         // bytes of artifacts and files beside a run's log; 4 GiB
	MaxActivePerOwner   int           // unfinished runs of an owner; 30,000
	MaxFinishedPerOwner int           // finished runs kept for an owner; 1,000
	MaxFinished         int           // finished runs kept for all owners; 20,000
	MaxFinishedBytes    int64         // bytes of the logs and files kept of finished runs; unlimited
	RetainFor           time.Duration // how long finished runs are kept; 7 days
	RetainAtLeast       time.Duration // how long a finished run is kept at least, however many there are; 1 minute
	ResidentFor         time.Duration // how long a durable run waits in memory; 10 minutes
	MaxResident         int           // durable runs that wait in memory; 250
}

func (l Limits) withDefaults() Limits {
	l.MaxEvents = cmp.Or(l.MaxEvents, 250_000)
	l.MaxLogBytes = cmp.Or(l.MaxLogBytes, 64<<20)
	l.MaxArtifactBytes = cmp.Or(l.MaxArtifactBytes, 64<<20)
	l.MaxBlobBytes = cmp.Or(l.MaxBlobBytes, 4<<30)
	l.MaxActivePerOwner = cmp.Or(l.MaxActivePerOwner, 30_000)
	l.MaxFinishedPerOwner = cmp.Or(l.MaxFinishedPerOwner, 1_000)
	l.MaxFinished = cmp.Or(l.MaxFinished, 20_000)
	l.RetainFor = cmp.Or(l.RetainFor, 7*24*time.Hour)
	l.RetainAtLeast = cmp.Or(l.RetainAtLeast, time.Minute)
	l.ResidentFor = cmp.Or(l.ResidentFor, 10*time.Minute)
	l.MaxResident = cmp.Or(l.MaxResident, 250)
	return l
}
