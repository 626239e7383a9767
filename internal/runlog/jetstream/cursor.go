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

// cursor reads messages of the stream in pages, with direct gets: they need no
// consumer, which would have to be created and limited.
type cursor struct {
	log          *Log
	subject      string // empty for all subjects
	nextSeq      uint64 // sequence in the stream
	hasMore      bool   // there is more after the last page
	endConfirmed bool   // the server said that there is no more, not only that it found nothing
	paged        bool   // there is too much for readChain
}

// Limits of a page. A scan of all runs has large pages because the server counts
// the remaining messages for each page, which is slow where runs were deleted.
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
func (c *cursor) readPage(ctx context.Context, b *broker, f func(messageHead) error) error {
	err := c.requestPage(ctx, b, f)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("reading the log: %w", b.explainError(err))
	}
	return err
}

func (c *cursor) requestPage(ctx context.Context, b *broker, f func(messageHead) error) error {
	inbox := b.conn.NewInbox()
	sub, err := b.conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	maxMessages, maxBytes := c.pageLimits()
	// Without headers, which are more work for the server than the messages.
	req, err := json.Marshal(server.JSApiMsgGetRequest{
		Seq: max(1, c.nextSeq), NextFor: c.subject, Batch: maxMessages, MaxBytes: maxBytes, NoHeaders: true,
	})
	if err != nil {
		return err
	}
	if err := b.conn.PublishRequest(fmt.Sprintf(server.JSDirectMsgGetT, streamName), inbox, req); err != nil {
		return err
	}
	read := 0
	for n := uint64(0); ; n++ {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return err
		}
		if code := m.Header.Get("Status"); code != "" {
			return c.handlePageEnd(code, m.Header, n, n == uint64(maxMessages) || read >= maxBytes/2)
		}
		read += len(m.Data) // the server counts the subject and header as well
		h, err := decodeHead(m.Data)
		if err != nil {
			return err
		}
		if err := f(h); err != nil {
			return fmt.Errorf("run %s: %w", h.run, err)
		}
	}
}

// handlePageEnd handles the status that follows a page of n messages.
func (c *cursor) handlePageEnd(code string, header nats.Header, n uint64, full bool) error {
	switch code {
	case "404": // there is no message, or it can't be read
		c.hasMore, c.endConfirmed = false, false
		return nil
	case "204": // the end of the page
		pending, err := strconv.ParseUint(header.Get(server.JSNumPending), 10, 64)
		last, err2 := strconv.ParseUint(header.Get(server.JSLastSequence), 10, 64)
		if n > 0 {
			c.nextSeq = last + 1
		}
		// Usually, pending is the number of messages before the page was sent;
		// if something was appended meanwhile, it is the number that remains.
		// If the page is full, only the next page can tell the two apart.
		c.hasMore = pending != 0 && (pending != n || full)
		c.endConfirmed = !c.hasMore
		return errors.Join(err, err2)
	}
	return fmt.Errorf("NATS server: %s %s", code, header.Get("Description"))
}

// newCursor returns a cursor for the entries of a run after an ordinal.
func (l *Log) newCursor(run string, after uint64) *cursor {
	return &cursor{log: l, subject: subjectOf(run), nextSeq: l.tails.seekSeq(run, after)}
}

// readEntries returns entries of a run after an ordinal: a short tail whole, or
// else those on the next page that has any. It returns none at the end of the
// run.
func (c *cursor) readEntries(ctx context.Context, run string, after uint64) ([]runlog.Entry, error) {
	if after == math.MaxUint64 {
		return nil, nil
	}
	if !c.paged {
		entries, done, err := c.readChained(ctx, run, after)
		if done || err != nil {
			return entries, err
		}
		c.paged = true
	}
	for {
		var entries []runlog.Entry
		expected := after + 1
		add := func(h messageHead) (err error) {
			if h.lastSeq < expected {
				return nil
			}
			if h.firstSeq > expected {
				return fmt.Errorf("%w: entries %d to %d are missing", ErrCorrupt, expected, h.firstSeq-1)
			}
			entries, err = h.decodeEntries(entries, expected-1)
			expected = h.lastSeq + 1
			return err
		}
		err := c.log.withBroker(func(b *broker) error { return c.readPage(ctx, b, add) })
		if err != nil {
			return nil, err
		}
		switch {
		case len(entries) > 0 || c.endConfirmed:
			return entries, nil
		case !c.hasMore:
			return nil, c.confirmEnd(ctx, run, after)
		}
	}
}

// readChained reads all entries after an ordinal with readChain. It reports
// whether it did, rather than finding too many.
func (c *cursor) readChained(ctx context.Context, run string, after uint64) (entries []runlog.Entry, done bool, err error) {
	var end runTail
	err = c.log.withBroker(func(b *broker) (err error) {
		entries, end, done, err = b.readChain(ctx, run, after)
		if errors.Is(err, errMissingMessage) {
			// The run may have been deleted meanwhile, and started again.
			if now, tailErr := b.readTail(ctx, run); tailErr == nil && now.streamSeq != end.streamSeq {
				entries, end, done, err = b.readChain(ctx, run, after)
			}
		}
		return err
	})
	if done && err == nil {
		c.nextSeq, c.hasMore, c.endConfirmed = end.streamSeq+1, false, true
		c.log.tails.update(run, end)
	}
	return entries, done, err
}

// confirmEnd returns an error if the run has entries where the server found none.
func (c *cursor) confirmEnd(ctx context.Context, run string, after uint64) error {
	end, err := c.log.readTail(ctx, run)
	if err == nil && end.lastSeq > after && end.streamSeq >= c.nextSeq {
		err = fmt.Errorf("reading run %s: %w: entries %d to %d can't be read", run, ErrCorrupt, after+1, end.lastSeq)
	}
	return err
}

// Read implements [runlog.Log].
func (l *Log) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		limit := ^uint64(0)
		if entries, ok := l.recent.entriesAfter(run, after); ok {
			yieldBatches(ctx, entries, limit, yield)
			return
		}
		c, after := l.newCursor(run, after), after
		for {
			entries, err := c.readEntries(ctx, run, after)
			if err == nil && c.hasMore && limit == ^uint64(0) {
				var end runTail // entries appended from now on are not yielded
				end, err = l.readTail(ctx, run)
				limit = end.lastSeq
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yieldBatches(ctx, entries, limit, yield) || !c.hasMore || len(entries) == 0 {
				return
			}
			after = entries[len(entries)-1].Seq
		}
	}
}

// yieldBatches yields entries in batches until one begins beyond limit. It reports
// whether the reader wants more.
func yieldBatches(ctx context.Context, entries []runlog.Entry, limit uint64, yield func([]runlog.Entry, error) bool) bool {
	for batch := range splitBatches(entries) {
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

// splitBatches splits entries into batches of at most [runlog.MaxBatchEntries].
func splitBatches(entries []runlog.Entry) iter.Seq[[]runlog.Entry] {
	return func(yield func([]runlog.Entry) bool) {
		for len(entries) > 0 {
			n := min(len(entries), runlog.MaxBatchEntries)
			if !yield(entries[:n:n]) {
				return
			}
			entries = entries[n:]
		}
	}
}
