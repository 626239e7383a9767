package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/photon-beam/beam/internal/runstate"
)

// A countKey is the key of a row of counts.
type countKey struct{ owner, what string }

// Everyone stands for all owners. No caller has that id.
const Everyone = escaped + "all"

// ownerText returns an owner as a database stores it.
func ownerText(owner string) string {
	if owner == Everyone {
		return owner
	}
	return toText(owner)
}

// What is counted apart from runs by state.
const (
	countAsks  = "asks"  // open questions
	countEnded = "ended" // runs
	countBytes = "bytes" // of the entries of ended runs
)

// Counts are numbers of an owner's runs, or of all.
type Counts struct {
	Runs       map[runstate.State]int
	OpenAsks   int
	Ended      int   // runs
	EndedBytes int64 // of the entries of ended runs
}

// All returns how many runs there are.
func (c *Counts) All() (n int) {
	for _, in := range c.Runs {
		n += in
	}
	return n
}

// Unfinished returns how many runs have not ended.
func (c *Counts) Unfinished() int { return c.All() - c.Ended }

// Counts returns the counts of an owner, or of [Everyone]. They are kept, not counted.
func (s *Store) Counts(ctx context.Context, owner string) (Counts, error) {
	c := Counts{Runs: make(map[runstate.State]int)}
	err := s.readers.query(ctx, "SELECT what, n FROM counts WHERE owner = $1", []any{ownerText(owner)}, func(row scanner) error {
		var what string
		var n int64
		err := row.Scan(&what, &n)
		switch what {
		case countAsks:
			c.OpenAsks = int(n)
		case countEnded:
			c.Ended = int(n)
		case countBytes:
			c.EndedBytes = n
		default:
			c.Runs[runstate.State(what)] = int(n)
		}
		return err
	})
	return c, s.readError(err)
}

// OwnersWithEnded returns owners with more than so many ended runs, those with the most first.
func (s *Store) OwnersWithEnded(ctx context.Context, more int) ([]string, error) {
	var owners []string
	err := s.readers.query(ctx, "SELECT owner FROM counts WHERE what = 'ended' AND n > $1 ORDER BY n DESC LIMIT $2", []any{more, pageRows}, func(row scanner) error {
		var owner string
		if err := row.Scan(&owner); err != nil || owner == Everyone {
			return err
		}
		owners = append(owners, fromText(owner))
		return nil
	})
	return owners, s.readError(err)
}

func (g *group) add(owner, what string, n int64) {
	for _, o := range []string{owner, Everyone} {
		g.counts[countKey{o, what}] += n
	}
}

// countChange counts what a run was before (nil for nothing), and what it is now, likewise.
func (g *group) countChange(before *savedRun, now *liveRun) {
	if before != nil {
		g.count(before, -1)
	}
	if now != nil {
		g.count(&savedRun{now.columns(), now.Last, now.digest, now.Bytes, now.Asks}, +1)
	}
}

func (g *group) count(r *savedRun, sign int64) {
	g.add(r.owner, string(r.state), sign)
	g.add(r.owner, countAsks, sign*int64(len(r.asks)))
	if r.ended != nil {
		g.add(r.owner, countEnded, sign)
		g.add(r.owner, countBytes, sign*r.bytes)
	}
}

// writeCounts adds to the counts, in the order of their keys.
func (g *group) writeCounts() error {
	keys := make([]countKey, 0, len(g.counts))
	for k, n := range g.counts {
		if n != 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b countKey) int { return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.what, b.what)) })
	for _, k := range keys {
		_, err := g.exec(g.ctx, "INSERT INTO counts (owner, what, n) VALUES ($1, $2, $3) ON CONFLICT (owner, what) DO UPDATE SET n = counts.n + excluded.n", k.owner, k.what, g.counts[k])
		if err == nil && g.counts[k] < 0 {
			_, err = g.exec(g.ctx, "DELETE FROM counts WHERE owner = $1 AND what = $2 AND n = 0", k.owner, k.what)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
