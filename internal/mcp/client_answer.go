package mcp

import (
	"context"
	"encoding/json"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/engine"
)

// parseClientAnswer decodes a client's result for a question. If the client was asked to
// open Beam's page and the user agreed, that is consent and not yet an answer: the user
// answers on the page.
func (c *call) parseClientAnswer(q *ask.Question, result json.RawMessage) (a ask.Answer, consented bool, err error) {
	a, err = c.client.ParseAnswer(q, result)
	return a, err == nil && q.OnPage() && a.Action == ask.Accept, err
}

// recordClientAnswer records a client's result for an open question, unless it is merely
// the user's consent to open Beam's page.
func (c *call) recordClientAnswer(ctx context.Context, open engine.OpenAsk, result json.RawMessage) (consented bool, err error) {
	a, consented, err := c.parseClientAnswer(open.Question, result)
	if err != nil || consented {
		return consented, err
	}
	return false, c.server.engine.Answer(ctx, c.client.caller, open.ID, a, surfaceMCP)
}
