package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/runlist"
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
	countAsks   = "asks"    // open questions
	countPhoton = "photon:" // and its name: unfinished runs of everyone
)

// CountRuns implements [runlist.Rows].
func (s *Store) CountRuns(ctx context.Context) (map[runstate.State]int, error) {
	runs, _, err := s.counts(ctx, Everyone)
	return runs, err
}

// CountOf implements [runlist.Rows].
func (s *Store) CountOf(ctx context.Context, owner string) (c runlist.Counts, err error) {
	if owner == "" {
		owner = Everyone
	}
	runs, asks, err := s.counts(ctx, owner)
	c.Asks = asks
	for state, n := range runs {
		c.Runs += n
		if !state.Ended() {
			c.Unfinished += n
		}
	}
	return c, err
}

// CountPhotons implements [runlist.Rows].
func (s *Store) CountPhotons(ctx context.Context) (map[string]int, error) {
	counts := make(map[string]int)
	err := s.eachCount(ctx, Everyone, func(what string, n int) {
		if name, ok := strings.CutPrefix(what, countPhoton); ok {
			counts[fromText(name)] = n
		}
	})
	return counts, err
}

// counts returns how many runs an owner, or [Everyone], has in each state, and how many open
// questions. They are kept, not counted.
func (s *Store) counts(ctx context.Context, owner string) (runs map[runstate.State]int, asks int, err error) {
	runs = make(map[runstate.State]int)
	err = s.eachCount(ctx, owner, func(what string, n int) {
		switch {
		case what == countAsks:
			asks = n
		case !strings.HasPrefix(what, countPhoton):
			runs[runstate.State(what)] = n
		}
	})
	return runs, asks, err
}

func (s *Store) eachCount(ctx context.Context, owner string, add func(what string, n int)) error {
	err := s.readers.query(ctx, "SELECT what, n FROM counts WHERE owner = $1", []any{ownerText(owner)}, func(row scanner) error {
		var what string
		var n int64
		err := row.Scan(&what, &n)
		add(what, int(n))
		return err
	})
	return s.readError(err)
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
		g.count(now.now(), +1)
	}
}

func (g *group) count(r *savedRun, sign int64) {
	g.add(r.owner, string(r.state), sign)
	g.add(r.owner, countAsks, sign*int64(len(r.asks)))
	if r.ended == nil {
		g.counts[countKey{Everyone, countPhoton + r.photon}] += sign
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
