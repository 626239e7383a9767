package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/photon-beam/beam/internal/runlog"
)

// Append implements [log.Log]. Beside a conflict, the error may be [ErrDiskFull],
// [ErrAppendTooLarge], [ErrClosed], [log.ErrUnavailable] or [log.ErrUncertain]. Once the
// entries are on their way, it waits for what becomes of them, whether ctx ends
// or not.
func (l *Log) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	e, err := l.workingBroker(ctx)
	if err != nil {
		return 0, fmt.Errorf("log: run %s: %w", run, err)
	}
	at, known := l.tails.lookup(run)
	for {
		if (!known && after > 0) || at.lastSeq != after || len(entries) == 0 {
			if at, err = e.readTail(ctx, run); err != nil {
				return 0, err
			}
		}
		if at.lastSeq != after || len(entries) == 0 {
			return at.lastSeq, checkLast(run, after, at.lastSeq)
		}
		last, err := l.publish(e, run, at, entries)
		if !isWrongLastSequence(err) {
			return last, err
		}
		l.tails.remove(run)
		known, at = false, runTail{lastSeq: after + 1} // whatever it is, ask
	}
}

// checkLast is an error if the entry that is last is not the one expected.
func checkLast(run string, after, last uint64) error {
	switch {
	case after == last:
		return nil
	case last == 0:
		return runlog.ErrNotFound
	}
	return &runlog.ConflictError{Run: run, After: after, Last: last}
}

// isWrongLastSequence tells that another append came first.
func isWrongLastSequence(err error) bool {
	var refused *server.ApiError
	return errors.As(err, &refused) && refused.ErrCode == uint16(server.JSStreamWrongLastSequenceErrF)
}

func (l *Log) publish(e *broker, run string, at runTail, entries []runlog.Entry) (uint64, error) {
	payload := encodeMessage(run, at.lastSeq, entries)
	if len(payload) > MaxAppendBytes {
		return 0, fmt.Errorf("log: run %s: %w: %d bytes, of %d", run, ErrAppendTooLarge, len(payload), MaxAppendBytes)
	}
	last := entries[len(entries)-1]
	take := l.disk.Reserve
	if last.Kind == runlog.KindStepped || last.Kind == runlog.KindFinished {
		take = l.disk.ReserveEssential // an effect that was had must not be repeated, and who ends frees room
	}
	if err := take(2 * len(payload)); err != nil {
		return 0, fmt.Errorf("log: run %s: %w", run, err)
	}
	p := &pendingAppend{run: run, firstSeq: at.lastSeq + 1, payload: payload}
	p.tail = runTail{lastSeq: at.lastSeq + uint64(len(entries)), finished: last.Kind == runlog.KindFinished}
	if err := e.appends.publish(p, at.streamSeq); err != nil {
		if isWrongLastSequence(err) {
			return 0, err
		}
		return 0, fmt.Errorf("log: run %s: %w", run, e.explainFailedAppend(err))
	}
	return p.tail.lastSeq, nil
}

// handleAck takes in what the stream has now, in its order.
func (l *Log) handleAck(p *pendingAppend) {
	l.tails.advance(p.run, p.tail, p.firstSeq)
	l.recent.add(p)
	l.hubs.publish(p)
	l.marks.appended(len(p.payload))
}
