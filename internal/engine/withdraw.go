package engine

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Withdraw settles an open question without an answer, because a surface can't
// present it ([runlog.Unsupported]) or received no valid answer
// ([runlog.Invalid]). text is the cause, for people. It is recorded and is part
// of the error that the generator receives, which is [ask.ErrUnsupported] or
// [ask.ErrInvalid]. The error is [ErrAskNotFound], [ErrForbidden], [ErrSettled],
// or the log's.
func (e *Engine) Withdraw(ctx context.Context, caller Caller, askID string, reason runlog.WithdrawReason, text string) error {
	r, seq, err := e.findAsk(caller, askID)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	withdrawn := runlog.Withdrawn{AskSeq: seq, Reason: reason, Error: truncateText(text)}
	return r.recordSettlement(ctx, seq, runlog.NewEntry(runlog.KindWithdrawn, withdrawn))
}

// withdrawnReply returns the generator's reply for a withdrawn question, both live
// and in a replay.
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
