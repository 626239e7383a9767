package budget_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/budget"
)

const maxWait = 2 * time.Second

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Working, budget.Limit{Each: 1, All: 10})
		take := func(owner string) error { return b.TakeInTurn(t.Context(), owner, maxWait) }
		if err := take("ada"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var served []int
		for i := range 3 {
			go func() {
				err := take("ada")
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					served = append(served, i)
				}
			}()
			synctest.Wait()
		}
		if err := take("bob"); err != nil {
			t.Errorf("another owner: %v", err)
		}
		b.Add("ada", -1)
		synctest.Wait()
		if !slices.Equal(served, []int{0}) || b.TryTake("ada") {
			t.Errorf("served after one release: %v", served)
		}
		b.Add("ada", -1)
		synctest.Wait()
		time.Sleep(2 * maxWait)
		if !slices.Equal(served, []int{0, 1}) {
			t.Errorf("served after two: %v", served)
		}
		if u := b.Usage(); u.Used != 2 || u.Refused != (budget.Refusals{Each: 1}) {
			t.Errorf("the usage is %+v", u)
		}
		b.Add("ada", -1)
		if !b.TryTake("ada") {
			t.Error("one who has left the line still has a turn")
		}
	})
}

// Who waits leaves the line when the context ends, and isn't let in if the line is too long,
// or if all have used up the budget.
func TestTurnsThatDoNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Working, budget.Limit{Each: 1, All: 2})
		var exceeded *budget.ExceededError
		for _, owner := range []string{"ada", "bob"} {
			if err := b.Take(owner, 1); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := b.TakeInTurn(t.Context(), "eve", maxWait); !errors.As(err, &exceeded) || !exceeded.OfAll || time.Since(began) > 0 {
			t.Errorf("a third in all: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var refused atomic.Int32
		for range 4 {
			go func() {
				if b.TakeInTurn(ctx, "ada", maxWait) != nil {
					refused.Add(1)
				}
			}()
		}
		synctest.Wait()
		if err := b.TakeInTurn(t.Context(), "ada", maxWait); !errors.As(err, &exceeded) || exceeded.OfAll || time.Since(began) > 0 {
			t.Errorf("a fifth in line: %v after %v", err, time.Since(began))
		}
		cancel()
		synctest.Wait()
		if refused.Load() != 4 || time.Since(began) > 0 {
			t.Errorf("%d have left the line after %v", refused.Load(), time.Since(began))
		}
	})
}
