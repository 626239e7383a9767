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

	"github.com/photon-beam/beam/internal/log"
)

// cursor reads a stream's messages in pages, by direct gets: there is no
// consumer to make, to keep or to limit.
type cursor struct {
	log     *Log
	subject string // empty for all
	next    uint64 // sequence in the stream
	more    bool   // there was more than the last page
	sure    bool   // the engine said that there was no more, not only that it found nothing
	paged   bool   // what follows is more than a chain
}

// A page has so many messages, or bytes, at most. Those of all runs are large,
// as the engine counts what is left for each, and that takes long where runs
// were deleted.
const (
	pageMessages  = 1024
	pageBytes     = 2 << 20
	sweepMessages = 32 << 10
	sweepBytes    = 16 << 20
)

func (c *cursor) limits() (messages, bytes int) {
	if c.subject == "" {
		return sweepMessages, sweepBytes
	}
	return pageMessages, pageBytes
}

// page calls f for each message of the next page.
func (c *cursor) page(ctx context.Context, f func(head) error) error {
	e := c.log.engine.Load()
	err := c.request(ctx, e, f)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("log: reading: %w", e.why(err))
	}
	return err
}

func (c *cursor) request(ctx context.Context, e *engine, f func(head) error) error {
	in := e.conn.NewInbox()
	sub, err := e.conn.SubscribeSync(in)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	most, size := c.limits()
	// Without headers, which cost the engine more than the messages.
	req, err := json.Marshal(server.JSApiMsgGetRequest{
		Seq: max(1, c.next), NextFor: c.subject, Batch: most, MaxBytes: size, NoHeaders: true,
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
			return c.end(code, m.Header, n, n == uint64(most) || bytes >= size/2)
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

// end reads what the engine says after a page of n messages.
func (c *cursor) end(code string, header nats.Header, n uint64, full bool) error {
	switch code {
	case "404": // there is nothing, or it can't be read
		c.more, c.sure = false, false
		return nil
	case "204": // the end of the page
		pending, err := strconv.ParseUint(header.Get(server.JSNumPending), 10, 64)
		last, err2 := strconv.ParseUint(header.Get(server.JSLastSequence), 10, 64)
		if n > 0 {
			c.next = last + 1
		}
		// What was pending before the page, or, if something was appended in
		// the meantime, what is after it. They can be told apart unless the page
		// is full; then another page tells.
		c.more = pending != 0 && (pending != n || full)
		c.sure = !c.more
		return errors.Join(err, err2)
	}
	return fmt.Errorf("the log's engine: %s %s", code, header.Get("Description"))
}

// cursor for what follows an ordinal of a run.
func (l *Log) cursor(run string, after uint64) *cursor {
	return &cursor{log: l, subject: subject(run), next: l.tails.start(run, after)}
}

// entries of a run after an ordinal, from the next page that has any; none if
// there are no more pages.
func (c *cursor) entries(ctx context.Context, run string, after uint64) ([]log.Entry, error) {
	if after == math.MaxUint64 {
		return nil, nil
	}
	if !c.paged {
		all, done, err := c.chained(ctx, run, after)
		if done || err != nil {
			return all, err
		}
		c.paged = true
	}
	for {
		var all []log.Entry
		expected := after + 1
		err := c.page(ctx, func(h head) (err error) {
			if h.last < expected {
				return nil
			}
			if h.first > expected {
				return fmt.Errorf("%w: entries %d to %d are missing", ErrCorrupt, expected, h.first-1)
			}
			all, err = h.decode(all, expected-1)
			expected = h.last + 1
			return err
		})
		if err != nil {
			return nil, err
		}
		switch {
		case len(all) > 0 || c.sure:
			return all, nil
		case !c.more:
			return nil, c.nothing(ctx, run, after)
		}
	}
}

// chained reads what follows an ordinal if it is not much.
func (c *cursor) chained(ctx context.Context, run string, after uint64) ([]log.Entry, bool, error) {
	e := c.log.engine.Load()
	all, end, done, err := e.chain(ctx, run, after)
	if errors.Is(err, errMissing) {
		// It may have been deleted in the middle, and begun again.
		if now, tailErr := e.tail(ctx, run); tailErr == nil && now.seq != end.seq {
			all, end, done, err = e.chain(ctx, run, after)
		}
	}
	if done && err == nil {
		c.next, c.more, c.sure = end.seq+1, false, true
		c.log.tails.seen(run, end)
	}
	return all, done, err
}

// nothing makes sure that there is nothing where the engine found nothing.
func (c *cursor) nothing(ctx context.Context, run string, after uint64) error {
	end, err := c.log.engine.Load().tail(ctx, run)
	if err == nil && end.last > after && end.seq >= c.next {
		err = fmt.Errorf("log: run %s: %w: entries %d to %d can't be read", run, ErrCorrupt, after+1, end.last)
	}
	return err
}

// Read implements [log.Log].
func (l *Log) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	return func(yield func([]log.Entry, error) bool) {
		limit := ^uint64(0)
		if all, ok := l.recent.after(run, after); ok {
			hand(ctx, all, limit, yield)
			return
		}
		c, after := l.cursor(run, after), after
		for {
			all, err := c.entries(ctx, run, after)
			if err == nil && c.more && limit == ^uint64(0) {
				var end tail // what comes from now on is not for this reader
				end, err = l.engine.Load().tail(ctx, run)
				limit = end.last
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !hand(ctx, all, limit, yield) || !c.more || len(all) == 0 {
				return
			}
			after = all[len(all)-1].Seq
		}
	}
}

// hand yields entries in batches, of which none begins beyond a limit. It returns
// false if the reader is to get no more.
func hand(ctx context.Context, all []log.Entry, limit uint64, yield func([]log.Entry, error) bool) bool {
	for batch := range batches(all) {
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

// batches cuts entries to the size that readers are promised.
func batches(all []log.Entry) iter.Seq[[]log.Entry] {
	return func(yield func([]log.Entry) bool) {
		for len(all) > 0 {
			n := min(len(all), log.MaxBatch)
			if !yield(all[:n:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// errLeft: who scans has left the loop.
var errLeft = errors.New("left")

// Delete implements [log.Log]. That the run is deleted is on the disk before
// anything of it is gone.
func (l *Log) Delete(ctx context.Context, run string) error {
	e := l.engine.Load()
	if err := l.marks.delete(ctx, e, run); err != nil {
		return fmt.Errorf("log: deleting run %s: %w", run, e.why(err))
	}
	l.tails.forget(run)
	l.recent.forget(run)
	l.hubs.deleted(run)
	return nil
}
