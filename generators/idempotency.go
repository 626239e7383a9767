package generators

import (
	"context"
	"crypto/rand"
)

// stepKey is the context key of a step's idempotency key.
type stepKey struct{}

// IdempotencyKey names one step of one run, the same whenever and wherever it is
// tried: hand it to a service that takes such keys, and a step that a crash made
// run again has its effect once. The context is the one that [Step] gives its
// function; elsewhere the key is empty.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(stepKey{}).(string)
	return key
}

// Name gives the run the id that its steps' idempotency keys begin with. Call it
// before [Run.All]; a run without one gets an id of its own.
func (r *Run) Name(id string) { r.id = id }

// stepContext is the context of a step of the run.
func (c *Call) stepContext() context.Context {
	if c.run == nil {
		return cancelled
	}
	c.run.mu.Lock()
	if c.run.id == "" {
		c.run.id = rand.Text()
	}
	id := c.run.id
	c.run.mu.Unlock()
	return context.WithValue(c.run.ctx, stepKey{}, id+"/"+c.Key)
}
