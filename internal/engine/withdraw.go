package engine

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Withdraw settles an open question without an answer: a surface could not put
// it to anybody ([log.Unsupported]) or got nothing that fits ([log.Invalid]).
// text says to people what was in the way; it is recorded, and part of the
// error that the generator gets, which is [ask.ErrUnsupported] or
// [ask.ErrInvalid]. The error is ErrNoAsk, ErrForbidden or ErrSettled.
func (e *Engine) Withdraw(ctx context.Context, who Caller, askID string, reason runlog.WithdrawReason, text string) error {
	r, seq, err := e.findAsk(who, askID)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recordSettlement(ctx, seq, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: seq, Reason: reason, Error: truncateText(text)}))
}

// withdrawnReply is what the generator gets for a question that was withdrawn,
// live and when the run is taken up again.
func withdrawnReply(w runlog.Withdrawn) generators.Reply {
	var err error
	switch w.Reason {
	case runlog.Expired:
		return generators.Reply{Err: ask.ErrTimeout}
	case runlog.Unsupported:
		err = ask.ErrUnsupported
	case runlog.Invalid:
		err = ask.ErrInvalid
	default:
		return generators.Reply{Err: generators.ErrStopped}
	}
	if w.Error != "" {
		err = fmt.Errorf("%w: %s", err, w.Error)
	}
	return generators.Reply{Err: err}
}
