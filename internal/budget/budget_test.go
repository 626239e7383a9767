package budget_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/budget"
)

func TestOwnersAndAll(t *testing.T) {
	b := budget.New(budget.Working, budget.Limit{Each: 2, All: 3})
	var exceeded *budget.ExceededError
	if err := errors.Join(b.Take("ada", 1), b.Take("ada", 1)); err != nil {
		t.Fatal(err)
	}
	if err := b.Take("ada", 1); !errors.As(err, &exceeded) || !errors.Is(err, budget.ErrExceeded) || exceeded.OfAll || exceeded.Status() != http.StatusTooManyRequests {
		t.Errorf("a third of one owner: %v", err)
	}
	release, err := b.Acquire("bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Take("eve", 1); !errors.As(err, &exceeded) || !exceeded.OfAll || exceeded.Status() != http.StatusServiceUnavailable {
		t.Errorf("a fourth in all: %v", err)
	}
	release()
	release()
	if err := b.Take("eve", 1); err != nil {
		t.Errorf("after a release: %v", err)
	}
	if u := b.Usage(); u.Used != 3 || u.Refused != (budget.Refusals{Each: 1, All: 1}) {
		t.Errorf("the usage is %+v", u)
	}
}

// TestSessionsShareHalf checks that making sessions doesn't use up what others have.
func TestSessionsShareHalf(t *testing.T) {
	b := budget.New(budget.Streams, budget.Limit{Each: 2, All: 10})
	taken := 0
	for i := range 100 {
		if b.Take("session:"+string(rune('a'+i)), 1) == nil {
			taken++
		}
	}
	if taken != 5 {
		t.Errorf("sessions took %d of 10", taken)
	}
	if err := b.Take("operator", 1); err != nil {
		t.Errorf("the operator: %v", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	b := budget.New(budget.Uploads, budget.Limit{Each: 5, All: 20})
	var all sync.WaitGroup
	for i := range 8 {
		owner := string(rune('a' + i%4))
		all.Go(func() {
			for range 1000 {
				if release, err := b.Acquire(owner); err == nil {
					release()
				}
			}
		})
	}
	all.Wait()
	if u := b.Usage(); u.Used != 0 {
		t.Errorf("%d are left", u.Used)
	}
}
