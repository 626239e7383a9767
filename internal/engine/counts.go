package engine

import (
	"context"
	"errors"
	"time"

	"github.com/photon-beam/beam/internal/runlist"
)

// Counts are the numbers that [Engine.Counts] returns.
type Counts struct {
	Runs      map[State]int // those that the log has, including ended ones
	Resident  int           // durable runs that wait in memory and could be evicted
	Followers int           // of runs: streams, pages and calls
}

// Counts returns the current numbers. The error is that of reading rows.
func (l lists) Counts() (Counts, error) {
	counts, err := l.rows.CountRuns(context.Background())
	c := Counts{
		Runs:      make(map[State]int, len(States)),
		Followers: int(l.followers.Load()),
		Resident:  l.evictor.Count(),
	}
	for _, s := range States {
		c.Runs[s] = counts[s]
	}
	return c, err
}

// CountOpenAsksByAge counts the open questions of all owners by age. bounds are in
// ascending order. open[i] is the number of questions that are younger than
// bounds[i], but not than the bound before; the last element counts the rest.
// oldest is the age of the oldest question, or 0 if none is open. The error is that of reading
// rows.
func (l lists) CountOpenAsksByAge(bounds ...time.Duration) (open []int, oldest time.Duration, err error) {
	ctx, now := context.Background(), time.Now()
	first, err := l.rows.Asks(ctx, runlist.AskFilter{}, Position{}, 1)
	if err == nil && len(first) > 0 {
		oldest = max(0, now.Sub(first[0].AskedAt))
	}
	all, countErr := l.rows.CountOf(ctx, "")
	err = errors.Join(err, countErr)
	left := all.Asks // of which those that are older are counted next
	for _, bound := range bounds {
		older, countErr := l.rows.CountAsks(ctx, now.Add(-bound))
		err = errors.Join(err, countErr)
		open = append(open, max(0, left-older))
		left = older
	}
	return append(open, left), oldest, err
}
