package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// Append implements [runlog.Log]. Apart from a conflict, the error may be
// [ErrDiskFull], [ErrAppendTooLarge], [ErrClosed], [runlog.ErrUnavailable] or
// [runlog.ErrUncertain]. Once it has sent the entries, Append waits for the
// outcome even if ctx is canceled.
func (l *Log) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	b, err := l.workingBroker(ctx)
	if err != nil {
		return 0, fmt.Errorf("appending to run %s: %w", run, err)
	}
	tail, known := l.tails.lookup(run)
	for {
		if (!known && after > 0) || tail.lastSeq != after || len(entries) == 0 {
			if tail, err = b.readTail(ctx, run); err != nil {
				return 0, err
			}
		}
		if tail.lastSeq != after || len(entries) == 0 {
			return tail.lastSeq, checkLast(run, after, tail.lastSeq)
		}
		last, err := l.publish(b, run, tail, entries)
		if !isWrongLastSequence(err) {
			return last, err
		}
		l.tails.remove(run)
		known, tail = false, runTail{lastSeq: after + 1} // which differs from after, so that the tail is read
	}
}

// checkLast returns an error if the last entry isn't the expected one.
func checkLast(run string, after, last uint64) error {
	switch {
	case after == last:
		return nil
	case last == 0:
		return runlog.ErrNotFound
	}
	return &runlog.ConflictError{Run: run, After: after, Last: last}
}

// isWrongLastSequence reports whether another append came first.
func isWrongLastSequence(err error) bool {
	var apiErr *server.ApiError
	return errors.As(err, &apiErr) && apiErr.ErrCode == uint16(server.JSStreamWrongLastSequenceErrF)
}

func (l *Log) publish(b *broker, run string, tail runTail, entries []runlog.Entry) (uint64, error) {
	payload := encodeMessage(run, tail.lastSeq, entries)
	if len(payload) > MaxAppendBytes {
		return 0, fmt.Errorf("run %s: %w: %s, at most %s", run, ErrAppendTooLarge, humanize.Bytes(int64(len(payload))), humanize.Bytes(MaxAppendBytes))
	}
	last := entries[len(entries)-1]
	check := l.disk.CheckWrite
	if last.Kind == runlog.KindStepped || last.Kind == runlog.KindFinished {
		check = l.disk.CheckEssentialWrite // a step must not run twice, and a finished run can be deleted
	}
	if err := check(2 * len(payload)); err != nil {
		return 0, fmt.Errorf("appending to run %s: %w", run, err)
	}
	a := &pendingAppend{run: run, firstSeq: tail.lastSeq + 1, payload: payload}
	a.tail = runTail{lastSeq: tail.lastSeq + uint64(len(entries)), finished: last.Kind == runlog.KindFinished}
	if err := b.appends.publish(a, tail.streamSeq); err != nil {
		if isWrongLastSequence(err) {
			return 0, err
		}
		return 0, fmt.Errorf("appending to run %s: %w", run, b.explainFailedAppend(err))
	}
	return a.tail.lastSeq, nil
}

// handleAck updates the caches and followers. The publisher calls it in the
// stream's order.
func (l *Log) handleAck(a *pendingAppend) {
	l.tails.advance(a.run, a.tail, a.firstSeq)
	l.recent.add(a)
	l.hubs.publish(a)
	l.highWater.countAppended(len(a.payload))
}
