package generators

import (
	"context"
	"crypto/rand"
)

// idempotencyKey is the context key of a step's idempotency key.
type idempotencyKey struct{}

// IdempotencyKey returns a key that identifies one step of one run and is the same for
// every attempt. Pass it to a service that supports such keys, so that a step that
// runs again after a crash has its effect only once. The context must be the one that
// [Step] passes to its function; for others, the key is empty.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(idempotencyKey{}).(string)
	return key
}

// SetID sets the ID that the idempotency keys of the run's steps begin with. Call it
// before [Run.All]. The default is a random ID.
func (r *Run) SetID(id string) { r.id = id }

// stepContext returns the context for the function of a step.
func (c *Call) stepContext() context.Context {
	if c.run == nil {
		return cancelledContext
	}
	c.run.mu.Lock()
	if c.run.id == "" {
		c.run.id = rand.Text()
	}
	id := c.run.id
	c.run.mu.Unlock()
	return context.WithValue(c.run.ctx, idempotencyKey{}, id+"/"+c.Key)
}
