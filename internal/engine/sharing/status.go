package sharing

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/runlist"
)

// An About is what a process says of itself to those that share its log.
type About struct {
	Version string `json:"version,omitempty"` // of Beam
	Program string `json:"program,omitempty"` // the digest of the program
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	URL     string `json:"url,omitempty"` // of its pages, if it is known
	// Photons are the names of the durable photons that it registers: it can go on with their runs.
	Photons []string `json:"photons,omitempty"`
}

// A Peer is a process that shares the log.
type Peer struct {
	About
	ID     string    `json:"id"`
	Self   bool      `json:"self"`
	Joined time.Time `json:"joined"`
	Seen   time.Time `json:"seen"` // when its lease was renewed last
	Gone   bool      `json:"gone"`
}

// A Status is what operators see of the processes that share a log.
type Status struct {
	Replicas []ReplicaStatus `json:"replicas"` // in the order in which they joined
	// Adrift is how many unfinished runs nobody holds who is there. One that waits is claimed when it goes on.
	Adrift      int           `json:"adrift"`
	Unclaimable []Unclaimable `json:"unclaimable"` // by photon
	// LeaseAge is how long ago this process renewed its lease.
	LeaseAge time.Duration `json:"-"`
}

// A ReplicaStatus is a process with its runs.
type ReplicaStatus struct {
	Peer
	SameProgram bool `json:"sameProgram"` // as this process
	Held        int  `json:"held"`        // unfinished runs
	Working     int  `json:"working"`     // those of them that work
}

// Unclaimable are the runs of a photon that nobody goes on with: no process that is there registers
// the photon, or the one that held them is gone, and no other has claimed them.
type Unclaimable struct {
	Photon     string `json:"photon"`
	Runs       int    `json:"runs"`
	Registered bool   `json:"registered"`
}

// Seen is what is seen of all runs that have something to do, when runs are looked for that nobody holds.
type Seen struct {
	Working   map[string]int // by worker
	Abandoned map[string]int // those that nobody holds who is there, by photon
}

// Note notes what was seen, for Status.
func (s *Share) Note(seen Seen) { s.seen.Store(&seen) }

// Status returns what operators see, given the unfinished runs.
func (s *Share) Status(unfinished map[runlist.Holding]int) Status {
	status := Status{LeaseAge: s.LeaseAge(), Unclaimable: []Unclaimable{}}
	var seen Seen
	if latest := s.seen.Load(); latest != nil {
		seen = *latest
	}
	held, alive, program, registered := make(map[string]int), make(map[string]bool), "", make(map[string]bool)
	peers := s.Peers()
	for _, p := range peers {
		if p.Self {
			program = p.Program
		}
		if alive[p.ID] = !p.Gone; alive[p.ID] {
			for _, photon := range p.Photons {
				registered[photon] = true
			}
		}
	}
	unclaimable := maps.Clone(seen.Abandoned)
	if unclaimable == nil {
		unclaimable = make(map[string]int)
	}
	maps.DeleteFunc(unclaimable, func(photon string, _ int) bool { return !registered[photon] })
	for h, n := range unfinished {
		held[h.Worker] += n
		if alive[h.Worker] {
			continue
		}
		if status.Adrift += n; !registered[h.Photon] {
			unclaimable[h.Photon] += n
		}
	}
	for photon, n := range unclaimable {
		status.Unclaimable = append(status.Unclaimable, Unclaimable{photon, n, registered[photon]})
	}
	slices.SortFunc(status.Unclaimable, func(a, b Unclaimable) int { return cmp.Compare(a.Photon, b.Photon) })
	for _, p := range peers {
		status.Replicas = append(status.Replicas, ReplicaStatus{p, p.Program == program, held[p.ID], seen.Working[p.ID]})
	}
	return status
}

// A Holder is the process that has claimed a run last.
type Holder struct {
	ID   string `json:"id"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	Gone bool   `json:"gone,omitempty"`
}

// Holder returns the process of an ID; nil for none, and if no other process has the log.
func (s *Share) Holder(worker string) *Holder {
	if s == nil || worker == "" {
		return nil
	}
	for _, p := range s.Peers() {
		if p.ID == worker {
			return &Holder{p.ID, p.Host, p.PID, p.Gone}
		}
	}
	return &Holder{ID: worker, Gone: true}
}
