package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/photon-beam/beam/internal/log"
)

// Each message says in its header which one of its run it followed, since that
// is what the engine compared. So few messages are read from the last one back,
// each by its sequence. To find the next one of a subject, the engine goes
// through all that others wrote in between, which is long for a run that waited.

// What is more than this is read in pages; see [cursor.entries].
const (
	chainMessages = 32
	chainEntries  = 512
)

// chain reads the entries of a run after an ordinal, and where the run ends. It
// is not done if there are too many.
func (e *engine) chain(ctx context.Context, run string, after uint64) (all []log.Entry, end tail, done bool, err error) {
	last, h, err := e.last(ctx, run)
	if err != nil || last == nil {
		return nil, tail{}, true, err
	}
	end = tail{last.Sequence, h.last, h.finished}
	if h.last > after+chainEntries {
		return nil, end, false, nil
	}
	var links []head
	for m := last; h.last > after; {
		if links = append(links, h); h.first <= after+1 {
			break
		}
		if len(links) == chainMessages {
			return nil, end, false, nil
		}
		if m, h, err = e.before(ctx, run, m, h); err != nil {
			return nil, end, true, err
		}
	}
	for _, h := range slices.Backward(links) {
		if all, err = h.decode(all, after); err != nil {
			return nil, end, true, fmt.Errorf("log: run %s: %w", run, err)
		}
	}
	return all, end, true, nil
}

// last is the last message of a run; nil if there is none.
func (e *engine) last(ctx context.Context, run string) (*jetstream.RawStreamMsg, head, error) {
	m, err := e.stream.GetLastMsgForSubject(ctx, subject(run))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, head{}, nil
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", log.ErrUnavailable, err) // the client's own limit: the engine is too busy
	}
	if err != nil {
		return nil, head{}, fmt.Errorf("log: the end of run %s: %w", run, e.why(err))
	}
	h, err := decodeHead(m.Data)
	if err != nil {
		return nil, head{}, fmt.Errorf("log: run %s: %w", run, err)
	}
	return m, h, nil
}

// before is the message that another one of the run followed.
func (e *engine) before(ctx context.Context, run string, m *jetstream.RawStreamMsg, h head) (*jetstream.RawStreamMsg, head, error) {
	seq, err := strconv.ParseUint(m.Header.Get(server.JSExpectedLastSubjSeq), 10, 64)
	if err != nil || seq == 0 || seq >= m.Sequence {
		return nil, head{}, missing(run, h)
	}
	m, err = e.stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, head{}, missing(run, h)
	}
	if err != nil {
		return nil, head{}, fmt.Errorf("log: run %s: %w", run, e.why(err))
	}
	b, err := decodeHead(m.Data)
	if err == nil && (string(b.run) != run || b.last+1 != h.first) {
		err = missing(run, h)
	}
	return m, b, err
}

// errMissing: a message is not where the next one says.
var errMissing = errors.New("what was before can't be read")

func missing(run string, h head) error {
	return fmt.Errorf("log: run %s: %w: entries up to %d: %w", run, ErrCorrupt, h.first-1, errMissing)
}
