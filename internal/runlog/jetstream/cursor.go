package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/photon-beam/beam/internal/runlog"
)

// cursor reads a stream's messages in pages, by direct gets: there is no
// consumer to make, to keep or to limit.
type cursor struct {
	log          *Log
	subject      string // empty for all
	nextSeq      uint64 // sequence in the stream
	hasMore      bool   // there was more than the last page
	endConfirmed bool   // the engine said that there was no more, not only that it found nothing
	paged        bool   // what follows is more than a chain
}

// A page has so many messages, or bytes, at most. Those of all runs are large,
// as the engine counts what is left for each, and that takes long where runs
// were deleted.
const (
	pageMessages     = 1024
	pageBytes        = 2 << 20
	scanPageMessages = 32 << 10
	scanPageBytes    = 16 << 20
)

func (c *cursor) pageLimits() (messages, bytes int) {
	if c.subject == "" {
		return scanPageMessages, scanPageBytes
	}
	return pageMessages, pageBytes
}

// readPage calls f for each message of the next page.
func (c *cursor) readPage(ctx context.Context, f func(messageHead) error) error {
	e := c.log.broker.Load()
	err := c.requestPage(ctx, e, f)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("log: reading: %w", e.explainError(err))
	}
	return err
}

func (c *cursor) requestPage(ctx context.Context, e *broker, f func(messageHead) error) error {
	in := e.conn.NewInbox()
	sub, err := e.conn.SubscribeSync(in)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	most, size := c.pageLimits()
	// Without headers, which cost the engine more than the messages.
	req, err := json.Marshal(server.JSApiMsgGetRequest{
		Seq: max(1, c.nextSeq), NextFor: c.subject, Batch: most, MaxBytes: size, NoHeaders: true,
	})
	if err != nil {
		return err
	}
	if err := e.conn.PublishRequest(fmt.Sprintf(server.JSDirectMsgGetT, streamName), in, req); err != nil {
		return err
	}
	bytes := 0
	for n := uint64(0); ; n++ {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return err
		}
		if code := m.Header.Get("Status"); code != "" {
			return c.handlePageEnd(code, m.Header, n, n == uint64(most) || bytes >= size/2)
		}
		bytes += len(m.Data) // the engine counts the subject and header, too
		h, err := decodeHead(m.Data)
		if err != nil {
			return err
		}
		if err := f(h); err != nil {
			return fmt.Errorf("run %s: %w", h.run, err)
		}
	}
}

// handlePageEnd reads what the engine says after a page of n messages.
func (c *cursor) handlePageEnd(code string, header nats.Header, n uint64, full bool) error {
	switch code {
	case "404": // there is nothing, or it can't be read
		c.hasMore, c.endConfirmed = false, false
		return nil
	case "204": // the end of the page
		pending, err := strconv.ParseUint(header.Get(server.JSNumPending), 10, 64)
		last, err2 := strconv.ParseUint(header.Get(server.JSLastSequence), 10, 64)
		if n > 0 {
			c.nextSeq = last + 1
		}
		// What was pending before the page, or, if something was appended in
		// the meantime, what is after it. They can be told apart unless the page
		// is full; then another page tells.
		c.hasMore = pending != 0 && (pending != n || full)
		c.endConfirmed = !c.hasMore
		return errors.Join(err, err2)
	}
	return fmt.Errorf("the log's engine: %s %s", code, header.Get("Description"))
}

// newCursor for what follows an ordinal of a run.
func (l *Log) newCursor(run string, after uint64) *cursor {
	return &cursor{log: l, subject: subjectOf(run), nextSeq: l.tails.seekSeq(run, after)}
}

// readEntries of a run after an ordinal, from the next page that has any; none if
// there are no more pages.
func (c *cursor) readEntries(ctx context.Context, run string, after uint64) ([]runlog.Entry, error) {
	if after == math.MaxUint64 {
		return nil, nil
	}
	if !c.paged {
		all, done, err := c.readChained(ctx, run, after)
		if done || err != nil {
			return all, err
		}
		c.paged = true
	}
	for {
		var all []runlog.Entry
		expected := after + 1
		err := c.readPage(ctx, func(h messageHead) (err error) {
			if h.lastSeq < expected {
				return nil
			}
			if h.firstSeq > expected {
				return fmt.Errorf("%w: entries %d to %d are missing", ErrCorrupt, expected, h.firstSeq-1)
			}
			all, err = h.decodeEntries(all, expected-1)
			expected = h.lastSeq + 1
			return err
		})
		if err != nil {
			return nil, err
		}
		switch {
		case len(all) > 0 || c.endConfirmed:
			return all, nil
		case !c.hasMore:
			return nil, c.confirmEnd(ctx, run, after)
		}
	}
}

// readChained reads what follows an ordinal if it is not much.
func (c *cursor) readChained(ctx context.Context, run string, after uint64) ([]runlog.Entry, bool, error) {
	e := c.log.broker.Load()
	all, end, done, err := e.readChain(ctx, run, after)
	if errors.Is(err, errMissingMessage) {
		// It may have been deleted in the middle, and begun again.
		if now, tailErr := e.readTail(ctx, run); tailErr == nil && now.streamSeq != end.streamSeq {
			all, end, done, err = e.readChain(ctx, run, after)
		}
	}
	if done && err == nil {
		c.nextSeq, c.hasMore, c.endConfirmed = end.streamSeq+1, false, true
		c.log.tails.update(run, end)
	}
	return all, done, err
}

// confirmEnd makes sure that there is nothing where the engine found nothing.
func (c *cursor) confirmEnd(ctx context.Context, run string, after uint64) error {
	end, err := c.log.broker.Load().readTail(ctx, run)
	if err == nil && end.lastSeq > after && end.streamSeq >= c.nextSeq {
		err = fmt.Errorf("log: run %s: %w: entries %d to %d can't be read", run, ErrCorrupt, after+1, end.lastSeq)
	}
	return err
}

// Read implements [log.Log].
func (l *Log) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		limit := ^uint64(0)
		if all, ok := l.recent.after(run, after); ok {
			yieldBatches(ctx, all, limit, yield)
			return
		}
		c, after := l.newCursor(run, after), after
		for {
			all, err := c.readEntries(ctx, run, after)
			if err == nil && c.hasMore && limit == ^uint64(0) {
				var end runTail // what comes from now on is not for this reader
				end, err = l.broker.Load().readTail(ctx, run)
				limit = end.lastSeq
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yieldBatches(ctx, all, limit, yield) || !c.hasMore || len(all) == 0 {
				return
			}
			after = all[len(all)-1].Seq
		}
	}
}

// yieldBatches yields entries in batches, of which none begins beyond a limit. It returns
// false if the reader is to get no more.
func yieldBatches(ctx context.Context, all []runlog.Entry, limit uint64, yield func([]runlog.Entry, error) bool) bool {
	for batch := range splitBatches(all) {
		if batch[0].Seq > limit {
			return false
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return false
		}
		if !yield(batch, nil) {
			return false
		}
	}
	return true
}

// splitBatches cuts entries to the size that readers are promised.
func splitBatches(all []runlog.Entry) iter.Seq[[]runlog.Entry] {
	return func(yield func([]runlog.Entry) bool) {
		for len(all) > 0 {
			n := min(len(all), runlog.MaxBatchEntries)
			if !yield(all[:n:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// errLoopBroken: who scans has left the loop.
var errLoopBroken = errors.New("left")

// Delete implements [log.Log]. That the run is deleted is on the disk before
// anything of it is gone.
func (l *Log) Delete(ctx context.Context, run string) error {
	e := l.broker.Load()
	if err := l.marks.delete(ctx, e, run); err != nil {
		return fmt.Errorf("log: deleting run %s: %w", run, e.explainError(err))
	}
	l.tails.remove(run)
	l.recent.remove(run)
	l.hubs.endRun(run)
	return nil
}
