package generators_test

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// Repeated keys get a number that makes them unique, even if a key with that number
// was used explicitly.
func TestKeysAreUnique(t *testing.T) {
	tests := []struct{ keys, want []string }{
		{[]string{"a", "b", "a", "a"}, []string{"a", "b", "a#2", "a#3"}},
		{[]string{"a", "a#2", "a", "a"}, []string{"a", "a#2", "a#3", "a#4"}},
		{[]string{"a", "a", "a#2"}, []string{"a", "a#2", "a#2#2"}},
		{[]string{"", ""}, []string{"", "#2"}},
	}
	for _, tt := range tests {
		p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
			for _, k := range tt.keys {
				if _, err := askText(yield, k); err != nil {
					return 0, err
				}
			}
			return 0, nil
		})
		var got []string
		_, _, err := drive(t.Context(), p, func(c *driver.Call) driver.Reply {
			got = append(got, c.Key)
			return valueReply("1")
		})
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q became %q, want %q (%v)", tt.keys, got, tt.want, err)
		}
	}
}

// Steps and questions of a run share one set of keys. Each run has its own.
func TestStepsAndAsksShareKeys(t *testing.T) {
	p := photon(func(_ context.Context, yield generators.Yield) (string, error) {
		if _, err := generators.Step(yield, "k", func(context.Context) (int, error) { return 1, nil }); err != nil {
			return "", err
		}
		c := driver.NewCall("text", "k", nil)
		yield(driver.NewEvent(c))
		return c.Key, c.Wait().Err
	})
	for range 2 {
		_, result, err := drive(t.Context(), p, func(*driver.Call) driver.Reply { return valueReply("1") })
		if err != nil || result != `"k#2"` {
			t.Errorf("the second key is %s, %v", result, err)
		}
	}
}

// Of several replies from several goroutines, the first one counts.
func TestFirstReplyCounts(t *testing.T) {
	c := driver.NewCall("text", "k", nil)
	if _, ok := c.Settled(); ok {
		t.Error("a new call is settled")
	}
	var firsts atomic.Int32
	var winner atomic.Value
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			v := strconv.Itoa(i)
			if c.Settle(valueReply(v)) {
				firsts.Add(1)
				winner.Store(v)
			}
		})
	}
	all.Wait()
	r, ok := c.Settled()
	if firsts.Load() != 1 || !ok || string(r.Value) != winner.Load() || string(c.Wait().Value) != winner.Load() {
		t.Errorf("Settle reported %d first replies, the last of them %v; the reply is %s", firsts.Load(), winner.Load(), r.Value)
	}
}

// A reply isn't lost if the run is stopped after it.
func TestReplyBeforeStopCounts(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got string
		p := photon(func(_ context.Context, yield generators.Yield) (int, error) {
			var err error
			got, err = askText(yield, "k")
			return 0, err
		})
		for e := range driver.Prepare(ctx, p, []byte("{}")).All {
			if c, ok := driver.CallOf(e); ok {
				c.Settle(valueReply(`"in time"`))
				cancel()
			}
		}
		if got != `"in time"` {
			t.Fatalf("the generator got %q", got)
		}
	}
}

// A driver may settle a call later, from another goroutine.
func TestSettleLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := photon(func(_ context.Context, yield generators.Yield) (string, error) { return askText(yield, "k") })
		calls := make(chan *driver.Call, 1)
		go func() {
			c := <-calls
			synctest.Wait() // until the run waits
			c.Settle(valueReply(`"late"`))
		}()
		_, result, err := drive(t.Context(), p, func(c *driver.Call) driver.Reply { return valueReply(`"at once"`) })
		if err != nil || result != `"\"at once\""` {
			t.Errorf("at once: %s, %v", result, err)
		}
		for e, err := range driver.Prepare(t.Context(), p, []byte("{}")).All {
			switch e := e.(type) {
			case *driver.Call:
				calls <- e
			case *generators.Result:
				if string(e.Value) != `"\"late\""` {
					t.Errorf("later: %s", e.Value)
				}
			default:
				t.Error(e, err)
			}
		}
	})
}

// Waiting for a call that was never yielded returns at once.
func TestWaitWithoutYield(t *testing.T) {
	r := driver.NewCall("text", "k", nil).Wait()
	if !errors.Is(r.Err, generators.ErrStopped) {
		t.Errorf("got %v", r.Err)
	}
}
