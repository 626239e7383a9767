package generators

import (
	"context"
	"crypto/rand"
)

// idempotencyKey is the context key of a step's idempotency key.
type idempotencyKey struct{}

// IdempotencyKey names one step of one run, the same whenever and wherever it is
// tried: hand it to a service that takes such keys, and a step that a crash made
// run again has its effect once. The context is the one that [Step] gives its
// function; elsewhere the key is empty.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(idempotencyKey{}).(string)
	return key
}

// SetID gives the run the id that its steps' idempotency keys begin with. Call it
// before [Run.All]; a run without one gets an id of its own.
func (r *Run) SetID(id string) { r.id = id }

// stepContext is the context of a step of the run.
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
