package upstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runpause"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// takeTurn waits until no other call of a connection is in progress, if they are to follow each
// other. The caller calls end when the call has ended. The error is that of ctx.
func (cs *connections) takeTurn(ctx context.Context, yield generators.Yield, c *connection) (end func(), err error) {
	if cs.server.Parallel != config.ParallelNever || c.session.IsModern() {
		return func() {}, nil
	}
	turn := make(chan struct{})
	cs.mu.Lock()
	c.turns = append(c.turns, turn)
	isFirst := len(c.turns) == 1
	cs.mu.Unlock()
	end = func() { cs.endTurn(c, turn) }
	if isFirst {
		return end, nil
	}
	text := fmt.Sprintf("Waits for another call of the server %s, which is called for one thing at a time", cs.server.Name)
	yield(generators.Status(text))
	defer runpause.Begin(ctx, text)()
	select {
	case <-turn:
		return end, nil
	case <-ctx.Done():
		end()
		return nil, context.Cause(ctx)
	}
}

// endTurn ends a turn, or the wait for it.
func (cs *connections) endTurn(c *connection, turn chan struct{}) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	i := slices.Index(c.turns, turn)
	c.turns = slices.Delete(c.turns, i, i+1)
	if i == 0 && len(c.turns) > 0 {
		close(c.turns[0])
	}
}
