package runlogtest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// followToEnd returns what a follower gets until the end of the run. It checks that
// no entry is missing, repeated or out of order.
func followToEnd(t testing.TB, l runlog.Log, run string, after uint64) []runlog.Entry {
	var all []runlog.Entry
	for batch, err := range l.Follow(testContext(t), run, after) {
		if err != nil {
			t.Errorf("following from %d: %v", after, err)
			break
		}
		checkBatch(t, batch, after+uint64(len(all)))
		all = append(all, batch...)
	}
	checkNumbers(t, all)
	return all
}

// testFollowWhileAppending follows several runs from several ordinals during appends, and when
// they have ended.
func testFollowWhileAppending(t *testing.T, l runlog.Log) {
	const last = 3000
	ids := make([]string, 4)
	var wg sync.WaitGroup
	follow := func(run string, after uint64) {
		if n, want := len(followToEnd(t, l, run, after)), last+1-int(min(after, last+1)); n != want {
			t.Errorf("from %d: %d entries, want %d", after, n, want)
		}
	}
	for i := range ids {
		ids[i] = newRunID()
		appendNumbered(t, l, ids[i], 0, 500, 100)
		for _, after := range []uint64{0, 1, 250, 499, 500, 501, 1500, 2999} {
			for range 3 {
				wg.Go(func() { follow(ids[i], after) })
			}
		}
	}
	for _, run := range ids {
		wg.Go(func() {
			for at := 500; at < last; {
				step := 1 + at%37
				appendNumbered(t, l, run, at, min(last, at+step), step)
				at = min(last, at+step)
			}
			mustAppend(t, l, run, last, finishedEntry)
		})
	}
	wg.Wait()
	for _, after := range []uint64{0, 2999, last, last + 1, last + 2, 1 << 63} {
		follow(ids[0], after)
	}
}

// testSlowFollower checks that a slow follower doesn't slow appends, and misses
// nothing.
func testSlowFollower(t *testing.T, l runlog.Log) {
	const last = 4 * runlog.MaxBatchEntries
	run := newRunID()
	appendNumbered(t, l, run, 0, 1, 1)
	asleep, awake := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		seen := uint64(0)
		for batch, err := range l.Follow(testContext(t), run, 0) {
			if err != nil {
				t.Errorf("following: %v", err)
				return
			}
			checkBatch(t, batch, seen)
			checkNumbers(t, batch)
			if seen == 0 {
				close(asleep)
				<-awake
			}
			seen += uint64(len(batch))
		}
		if seen != last+1 {
			t.Errorf("%d entries, want %d", seen, last+1)
		}
	})
	<-asleep
	appendNumbered(t, l, run, 1, last, 500) // it would hang here
	mustAppend(t, l, run, last, finishedEntry)
	other := newRunID()
	appendNumbered(t, l, other, 0, 1, 1)
	mustAppend(t, l, other, 1, finishedEntry)
	if n := len(followToEnd(t, l, other, 0)); n != 2 {
		t.Errorf("another follower saw %d entries of 2", n)
	}
	close(awake)
	wg.Wait()
}

// testFollowResumed checks that a follower that stops can resume.
func testFollowResumed(t *testing.T, l runlog.Log) {
	run := newRunID()
	appendNumbered(t, l, run, 0, 10, 1)
	seen := uint64(0)
	for seen < 10 {
		for batch, err := range l.Follow(testContext(t), run, seen) {
			if err != nil {
				t.Fatal(err)
			}
			checkBatch(t, batch, seen)
			seen++ // it took only the first of the batch
			break
		}
	}
	mustAppend(t, l, run, 10, finishedEntry)
	if n := len(followToEnd(t, l, run, seen)); n != 1 {
		t.Errorf("%d entries are left, want 1", n)
	}
}

// testFollowDeleted checks that deleting a run ends its followers without an error.
func testFollowDeleted(t *testing.T, l runlog.Log) {
	run := newRunID()
	appendNumbered(t, l, run, 0, 3, 3)
	seen := make(chan struct{})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			n := 0
			for batch, err := range l.Follow(testContext(t), run, 0) {
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
				if n += len(batch); n == 3 {
					seen <- struct{}{}
				}
			}
			if n != 3 {
				t.Errorf("it saw %d entries", n)
			}
		})
	}
	for range 5 {
		<-seen
	}
	if err := l.Delete(t.Context(), run); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// testFollowContext checks that Follow yields ctx's error, while reading and while
// waiting.
func testFollowContext(t *testing.T, l runlog.Log) {
	run := newRunID()
	appendNumbered(t, l, run, 0, 2*runlog.MaxBatchEntries, 500)
	for name, leaveAt := range map[string]int{"while reading": 1, "while waiting": 2 * runlog.MaxBatchEntries} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		var end error
		for batch, err := range l.Follow(ctx, run, 0) {
			end = err
			if n += len(batch); n >= leaveAt {
				cancel()
			}
		}
		cancel()
		if !errors.Is(end, context.Canceled) {
			t.Errorf("%s: it ended with %v after %d entries", name, end, n)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var end error
	for _, err := range l.Follow(ctx, run, 0) {
		end = err
	}
	if !errors.Is(end, context.Canceled) {
		t.Errorf("with a canceled context, it ended with %v", end)
	}
}

// checkNotFound checks that Follow yields one error if the run doesn't exist.
func checkNotFound(t *testing.T, l runlog.Log, run string) {
	t.Helper()
	for _, after := range []uint64{0, 1} {
		var errs []error
		for batch, err := range l.Follow(testContext(t), run, after) {
			if len(batch) > 0 {
				t.Errorf("it has entries: %v", batch)
			}
			errs = append(errs, err)
		}
		if len(errs) != 1 || !errors.Is(errs[0], runlog.ErrNotFound) {
			t.Errorf("it ended with %v", errs)
		}
	}
}
