package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/photon-beam/beam/internal/log"
)

// Scan yields the entries of all runs in the order in which they were
// appended, those of one append at a time: it is how to read many runs at
// once. What is appended meanwhile may be among them. While the loop's body
// runs, more of the page arrives.
func (l *Log) Scan(ctx context.Context) iter.Seq2[log.Appended, error] {
	return func(yield func(log.Appended, error) bool) {
		c := &cursor{log: l, more: true}
		take := func(h head) error {
			entries, err := h.decode(make([]log.Entry, 0, h.count), 0)
			if err == nil && !yield(log.Appended{Run: string(h.run), Entries: entries}, nil) {
				err = errLeft
			}
			return err
		}
		for c.more {
			if err := c.page(ctx, take); errors.Is(err, errLeft) {
				return
			} else if err != nil {
				yield(log.Appended{}, err)
				return
			}
		}
		if err := c.scanned(ctx); err != nil {
			yield(log.Appended{}, err)
		}
	}
}

// scanned is an error if the engine found nothing where the stream goes on.
func (c *cursor) scanned(ctx context.Context) error {
	if c.sure {
		return nil
	}
	e := c.log.engine.Load()
	info, err := e.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("log: reading: %w", e.why(err))
	}
	if info.State.Msgs > 0 && info.State.LastSeq >= c.next {
		if _, err := e.stream.GetMsg(ctx, info.State.LastSeq); err == nil {
			return fmt.Errorf("log: %w: messages from %d on can't be read", ErrCorrupt, c.next)
		}
	}
	return nil
}

// Runs implements [log.Log]. It reads the whole log; see [Log.Scan].
func (l *Log) Runs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		c := &cursor{log: l, more: true}
		for c.more {
			var begun []string
			err := c.page(ctx, func(h head) error {
				if h.first == 1 {
					begun = append(begun, string(h.run))
				}
				return nil
			})
			if err == nil && !c.more {
				err = c.scanned(ctx)
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
