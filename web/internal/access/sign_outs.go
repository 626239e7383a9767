package access

import (
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/photon-beam/beam/internal/smallstate"
)

// SignOuts tell the processes that serve the same site which browsers have signed out, so that each
// ends what it still does for them.
type SignOuts struct {
	recent smallstate.Bucket // when, in milliseconds of Unix time, by the ids of browsers
	end    func(browser string)
}

// How often a process looks who has signed out elsewhere, and how long that is told.
const (
	lookEvery    = 500 * time.Millisecond
	keepSignOuts = 10 * time.Minute
)

// NewSignOuts returns the sign-outs in a store. end ends what this process does for a browser.
func NewSignOuts(s smallstate.Store, end func(browser string)) *SignOuts {
	return &SignOuts{smallstate.Bucket{Store: s, Name: "recent-sign-outs"}, end}
}

// Tell tells all processes, this one at once, that a browser has signed out.
func (s *SignOuts) Tell(ctx context.Context, browser string) error {
	s.end(browser)
	if browser == "" {
		return nil
	}
	now := time.Now()
	err := s.recent.Update(ctx, browser, func([]byte) ([]byte, error) { return strconv.AppendInt(nil, now.UnixMilli(), 10), nil })
	if err != nil {
		return err
	}
	return s.recent.DeleteIf(ctx, func(v smallstate.Value) bool {
		at, _ := strconv.ParseInt(string(v.Value), 10, 64)
		return now.Sub(time.UnixMilli(at)) > keepSignOuts
	})
}

// Watch ends what this process does for browsers that sign out elsewhere, until ctx ends.
func (s *SignOuts) Watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	seen := make(map[string]string)
	for {
		now := maps.Clone(seen)
		if values, err := s.recent.Values(ctx); err == nil { // otherwise the next time
			clear(now)
			for _, v := range values {
				if now[v.Key] = string(v.Value); now[v.Key] != seen[v.Key] {
					s.end(v.Key)
				}
			}
		}
		seen = now
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
