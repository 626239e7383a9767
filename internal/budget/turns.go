package budget

import (
	"context"
	"slices"
	"time"
)

// maxWaiters is how many may wait for each one that may be in use, of one owner and in all.
const maxWaiters = 4

// TryTake takes one for an owner and reports whether it could. If not, that doesn't count as
// a refusal. It overtakes nobody who waits in [Budget.TakeInTurn].
func (b *Budget) TryTake(owner string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ok := b.check(owner, 1) == nil
	if ok {
		b.add(owner, 1)
	}
	return ok
}

// TakeInTurn takes one for an owner. If the owner's share is used up, it waits in line until
// ctx ends, but for maxWait at most; it doesn't wait if the line is too long, or if all have
// used up the budget. The error is that of [Budget.Take].
func (b *Budget) TakeInTurn(ctx context.Context, owner string, maxWait time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	exceeded := b.check(owner, 1)
	if exceeded == nil {
		b.add(owner, 1)
		return nil
	}
	if exceeded.OfAll || int64(len(b.waiting[owner]))/maxWaiters >= b.limit.Each || b.waiters/maxWaiters >= b.limit.All {
		return b.refuse(exceeded)
	}
	turn := make(chan struct{}) // closed when one has been taken
	b.waiting[owner] = append(b.waiting[owner], turn)
	b.waiters++
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	select {
	case <-turn:
	case <-ctx.Done():
	}
	b.mu.Lock()
	i := slices.Index(b.waiting[owner], turn)
	if i < 0 { // also if the turn comes as ctx ends
		return nil
	}
	b.setWaiting(owner, slices.Delete(b.waiting[owner], i, i+1))
	return b.refuse(exceeded)
}

// serveWaiters takes one each for those who wait, as far as the limits allow.
func (b *Budget) serveWaiters() {
	for owner, waiting := range b.waiting {
		for len(waiting) > 0 && b.check(owner, 1) == nil {
			b.add(owner, 1)
			close(waiting[0])
			waiting = waiting[1:]
		}
		b.setWaiting(owner, waiting)
	}
}

func (b *Budget) setWaiting(owner string, waiting []chan struct{}) {
	b.waiters += int64(len(waiting) - len(b.waiting[owner]))
	if b.waiting[owner] = waiting; len(waiting) == 0 {
		delete(b.waiting, owner)
	}
}
