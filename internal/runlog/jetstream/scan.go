package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/photon-beam/beam/internal/runlog"
)

// errStopped ends the reading of a page when the caller has left its loop.
var errStopped = errors.New("stopped")

// Scan implements [runlog.Scanner]. It yields the appends of all runs in the
// order in which they were made, possibly including appends made meanwhile. The
// rest of a page arrives while the loop's body runs.
func (l *Log) Scan(ctx context.Context) iter.Seq2[runlog.AppendedEntries, error] {
	return func(yield func(runlog.AppendedEntries, error) bool) {
		c := &cursor{log: l, hasMore: true}
		yieldMessage := func(h messageHead) error {
			entries, err := h.decodeEntries(make([]runlog.Entry, 0, h.count), 0)
			if err == nil && !yield(runlog.AppendedEntries{Run: string(h.run), Entries: entries}, nil) {
				err = errStopped
			}
			return err
		}
		for c.hasMore {
			if err := c.readPage(ctx, l.broker.Load(), yieldMessage); errors.Is(err, errStopped) {
				return
			} else if err != nil {
				yield(runlog.AppendedEntries{}, err)
				return
			}
		}
		if err := c.checkScannedToEnd(ctx); err != nil {
			yield(runlog.AppendedEntries{}, err)
		}
	}
}

// checkScannedToEnd returns an error if the stream has messages where the server
// found none.
func (c *cursor) checkScannedToEnd(ctx context.Context) error {
	if c.endConfirmed {
		return nil
	}
	b := c.log.broker.Load()
	info, err := b.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("reading the log: %w", b.explainError(err))
	}
	if info.State.Msgs > 0 && info.State.LastSeq >= c.nextSeq {
		if _, err := b.stream.GetMsg(ctx, info.State.LastSeq); err == nil {
			return fmt.Errorf("reading the log: %w: messages from %d on can't be read", ErrCorrupt, c.nextSeq)
		}
	}
	return nil
}

// Runs implements [runlog.Log]. It reads the whole log; see [Log.Scan].
func (l *Log) Runs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		c := &cursor{log: l, hasMore: true}
		for c.hasMore {
			var started []string
			err := c.readPage(ctx, l.broker.Load(), func(h messageHead) error {
				if h.firstSeq == 1 {
					started = append(started, string(h.run))
				}
				return nil
			})
			if err == nil && !c.hasMore {
				err = c.checkScannedToEnd(ctx)
			}
			for _, run := range started {
				if !yield(run, nil) {
					return
				}
			}
			if err != nil {
				yield("", err)
				return
			}
		}
	}
}
