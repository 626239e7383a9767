package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/photon-beam/beam/internal/log"
)

// Append implements [log.Log]. Beside a conflict, the error may be [ErrFull],
// [ErrTooLarge], [ErrClosed], [log.ErrUnavailable] or [log.ErrInDoubt]. Once the
// entries are on their way, it waits for what becomes of them, whether ctx ends
// or not.
func (l *Log) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	e, err := l.working(ctx)
	if err != nil {
		return 0, fmt.Errorf("log: run %s: %w", run, err)
	}
	at, known := l.tails.get(run)
	for {
		if (!known && after > 0) || at.last != after || len(entries) == 0 {
			if at, err = e.tail(ctx, run); err != nil {
				return 0, err
			}
		}
		if at.last != after || len(entries) == 0 {
			return at.last, unless(run, after, at.last)
		}
		last, err := l.publish(e, run, at, entries)
		if !outrun(err) {
			return last, err
		}
		l.tails.forget(run)
		known, at = false, tail{last: after + 1} // whatever it is, ask
	}
}

// unless is an error if the entry that is last is not the one expected.
func unless(run string, after, last uint64) error {
	switch {
	case after == last:
		return nil
	case last == 0:
		return log.ErrNotFound
	}
	return &log.ConflictError{Run: run, After: after, Last: last}
}

// outrun tells that another append came first.
func outrun(err error) bool {
	var refused *server.ApiError
	return errors.As(err, &refused) && refused.ErrCode == uint16(server.JSStreamWrongLastSequenceErrF)
}

func (l *Log) publish(e *engine, run string, at tail, entries []log.Entry) (uint64, error) {
	payload := encode(run, at.last, entries)
	if len(payload) > MaxAppend {
		return 0, fmt.Errorf("log: run %s: %w: %d bytes, of %d", run, ErrTooLarge, len(payload), MaxAppend)
	}
	last := entries[len(entries)-1]
	take := l.disk.Take
	if last.Kind == log.KindStepped || last.Kind == log.KindFinished {
		take = l.disk.TakeSpare // an effect that was had must not be repeated, and who ends frees room
	}
	if err := take(2 * len(payload)); err != nil {
		return 0, fmt.Errorf("log: run %s: %w", run, err)
	}
	p := &pending{run: run, first: at.last + 1, payload: payload}
	p.tail = tail{last: at.last + uint64(len(entries)), finished: last.Kind == log.KindFinished}
	if err := e.appends.publish(p, at.seq); err != nil {
		if outrun(err) {
			return 0, err
		}
		return 0, fmt.Errorf("log: run %s: %w", run, e.lost(err))
	}
	return p.tail.last, nil
}

// acknowledged takes in what the stream has now, in its order.
func (l *Log) acknowledged(p *pending) {
	l.tails.moved(p.run, p.tail, p.first)
	l.recent.add(p)
	l.hubs.feed(p)
	l.marks.appended(len(p.payload))
}
