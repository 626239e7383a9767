package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runstate"
)

// everyone stands for all owners. No caller has that id.
const everyone = escaped + "all"

// counts are an owner's open questions, the runs in states that countColumns doesn't have, and
// those in each of the states that it has.
type counts [2 + len(runstate.States)]int64

// countColumns are the columns of counts.
var countColumns = func() []string {
	columns := []string{"asks", "other"}
	for _, s := range runstate.States {
		columns = append(columns, string(s))
	}
	return columns
}()

// stateIndex returns the index of a state in counts.
func stateIndex(s runstate.State) int {
	if i := slices.Index(runstate.States[:], s); i >= 0 {
		return 2 + i
	}
	return 1
}

// dest returns pointers to all counts.
func (c *counts) dest() (all []any) {
	for i := range c {
		all = append(all, &c[i])
	}
	return all
}

// row returns the values of an owner's row.
func (c *counts) row(owner string) []any {
	all := []any{owner}
	for _, n := range c {
		all = append(all, n)
	}
	return all
}

// A tally is what transactions add to counts, by the owners' texts, and to unfinished, by their
// keys' texts.
type tally struct {
	owners     map[string]*counts
	unfinished map[runlist.Holding]int64
}

func newTally() tally { return tally{make(map[string]*counts), make(map[runlist.Holding]int64)} }

// change counts what a run was before (nil for nothing), and what it is now, likewise.
func (t tally) change(before, now *savedRun) {
	if before != nil {
		t.add(before, -1)
	}
	if now != nil {
		t.add(now, +1)
	}
}

func (t tally) add(r *savedRun, sign int64) {
	for _, owner := range []string{r.owner, everyone} {
		c := t.owners[owner]
		if c == nil {
			c = new(counts)
			t.owners[owner] = c
		}
		c[0] += sign * int64(len(r.asks))
		c[stateIndex(r.state)] += sign
	}
	if r.ended == nil {
		t.unfinished[runlist.Holding{Worker: r.worker, Photon: r.photon}] += sign
	}
}

// trim removes what is zero.
func (t tally) trim() {
	maps.DeleteFunc(t.owners, func(_ string, c *counts) bool { return *c == counts{} })
	maps.DeleteFunc(t.unfinished, func(_ runlist.Holding, n int64) bool { return n == 0 })
}

// addCounts adds to the counts of an owner.
var addCounts = func() string {
	var parameters, sums []string
	for i, column := range countColumns {
		parameters = append(parameters, fmt.Sprintf("$%d", 2+i))
		sums = append(sums, fmt.Sprintf("%s = counts.%s + excluded.%s", column, column, column))
	}
	return fmt.Sprintf("INSERT INTO counts (owner, %s) VALUES ($1, %s) ON CONFLICT (owner) DO UPDATE SET %s",
		strings.Join(countColumns, ", "), strings.Join(parameters, ", "), strings.Join(sums, ", "))
}()

// writeTally adds the tally to the database, in the order of its keys.
func (g *group) writeTally() error {
	g.tally.trim()
	for _, owner := range slices.Sorted(maps.Keys(g.tally.owners)) {
		if _, err := g.exec(addCounts, g.tally.owners[owner].row(owner)...); err != nil {
			return err
		}
	}
	const addUnfinished = "INSERT INTO unfinished (worker, photon, runs) VALUES ($1, $2, $3) ON CONFLICT (worker, photon) DO UPDATE SET runs = unfinished.runs + excluded.runs"
	for _, h := range slices.SortedFunc(maps.Keys(g.tally.unfinished), runlist.Holding.Compare) {
		if _, err := g.exec(addUnfinished, h.Worker, h.Photon, g.tally.unfinished[h]); err != nil {
			return err
		}
	}
	return nil
}
