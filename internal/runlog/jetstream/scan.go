package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/photon-beam/beam/internal/runlog"
)

// Scan yields the entries of all runs in the order in which they were
// appended, those of one append at a time: it is how to read many runs at
// once. What is appended meanwhile may be among them. While the loop's body
// runs, more of the page arrives.
func (l *Log) Scan(ctx context.Context) iter.Seq2[runlog.AppendedEntries, error] {
	return func(yield func(runlog.AppendedEntries, error) bool) {
		c := &cursor{log: l, hasMore: true}
		take := func(h messageHead) error {
			entries, err := h.decodeEntries(make([]runlog.Entry, 0, h.count), 0)
			if err == nil && !yield(runlog.AppendedEntries{Run: string(h.run), Entries: entries}, nil) {
				err = errLoopBroken
			}
			return err
		}
		for c.hasMore {
			if err := c.readPage(ctx, take); errors.Is(err, errLoopBroken) {
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

// checkScannedToEnd is an error if the engine found nothing where the stream goes on.
func (c *cursor) checkScannedToEnd(ctx context.Context) error {
	if c.endConfirmed {
		return nil
	}
	e := c.log.broker.Load()
	info, err := e.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("log: reading: %w", e.explainError(err))
	}
	if info.State.Msgs > 0 && info.State.LastSeq >= c.nextSeq {
		if _, err := e.stream.GetMsg(ctx, info.State.LastSeq); err == nil {
			return fmt.Errorf("log: %w: messages from %d on can't be read", ErrCorrupt, c.nextSeq)
		}
	}
	return nil
}

// Runs implements [log.Log]. It reads the whole log; see [Log.Scan].
func (l *Log) Runs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		c := &cursor{log: l, hasMore: true}
		for c.hasMore {
			var begun []string
			err := c.readPage(ctx, func(h messageHead) error {
				if h.firstSeq == 1 {
					begun = append(begun, string(h.run))
				}
				return nil
			})
			if err == nil && !c.hasMore {
				err = c.checkScannedToEnd(ctx)
			}
			for _, run := range begun {
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
