package run

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// Withdraw settles an open question without an answer: a surface could not put
// it to anybody ([log.Unsupported]) or got nothing that fits ([log.Invalid]).
// text says to people what was in the way; it is recorded, and part of the
// error that the generator gets, which is [ask.ErrUnsupported] or
// [ask.ErrInvalid]. The error is ErrNoAsk, ErrForbidden or ErrSettled.
func (e *Engine) Withdraw(ctx context.Context, who Caller, askID string, reason log.Reason, text string) error {
	r, seq, err := e.findAsk(who, askID)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conclude(ctx, seq, log.New(log.KindWithdrawn, log.Withdrawn{Ask: seq, Reason: reason, Error: clip(text)}))
}

// withdrawnReply is what the generator gets for a question that was withdrawn,
// live and when the run is taken up again.
func withdrawnReply(w log.Withdrawn) generators.Reply {
	var err error
	switch w.Reason {
	case log.Expired:
		return generators.Reply{Err: ask.ErrTimeout}
	case log.Unsupported:
		err = ask.ErrUnsupported
	case log.Invalid:
		err = ask.ErrInvalid
	default:
		return generators.Reply{Err: generators.ErrStopped}
	}
	if w.Error != "" {
		err = fmt.Errorf("%w: %s", err, w.Error)
	}
	return generators.Reply{Err: err}
}
