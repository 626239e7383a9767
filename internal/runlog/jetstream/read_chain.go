package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/photon-beam/beam/internal/runlog"
)

// Each message says in its header which one of its run it followed, since that
// is what the engine compared. So few messages are read from the last one back,
// each by its sequence. To find the next one of a subject, the engine goes
// through all that others wrote in between, which is long for a run that waited.

// What is more than this is read in pages; see [cursor.readEntries].
const (
	maxChainMessages = 32
	maxChainEntries  = 512
)

// readChain reads the entries of a run after an ordinal, and where the run ends. It
// is not done if there are too many.
func (e *broker) readChain(ctx context.Context, run string, after uint64) (all []runlog.Entry, end runTail, done bool, err error) {
	last, h, err := e.lastMessage(ctx, run)
	if err != nil || last == nil {
		return nil, runTail{}, true, err
	}
	end = runTail{last.Sequence, h.lastSeq, h.finished}
	if h.lastSeq > after+maxChainEntries {
		return nil, end, false, nil
	}
	var links []messageHead
	for m := last; h.lastSeq > after; {
		if links = append(links, h); h.firstSeq <= after+1 {
			break
		}
		if len(links) == maxChainMessages {
			return nil, end, false, nil
		}
		if m, h, err = e.previousMessage(ctx, run, m, h); err != nil {
			return nil, end, true, err
		}
	}
	for _, h := range slices.Backward(links) {
		if all, err = h.decodeEntries(all, after); err != nil {
			return nil, end, true, fmt.Errorf("log: run %s: %w", run, err)
		}
	}
	return all, end, true, nil
}

// lastMessage is the last message of a run; nil if there is none.
func (e *broker) lastMessage(ctx context.Context, run string) (*jetstream.RawStreamMsg, messageHead, error) {
	m, err := e.stream.GetLastMsgForSubject(ctx, subjectOf(run))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, messageHead{}, nil
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", runlog.ErrUnavailable, err) // the client's own limit: the engine is too busy
	}
	if err != nil {
		return nil, messageHead{}, fmt.Errorf("log: the end of run %s: %w", run, e.explainError(err))
	}
	h, err := decodeHead(m.Data)
	if err != nil {
		return nil, messageHead{}, fmt.Errorf("log: run %s: %w", run, err)
	}
	return m, h, nil
}

// previousMessage is the message that another one of the run followed.
func (e *broker) previousMessage(ctx context.Context, run string, m *jetstream.RawStreamMsg, h messageHead) (*jetstream.RawStreamMsg, messageHead, error) {
	seq, err := strconv.ParseUint(m.Header.Get(server.JSExpectedLastSubjSeq), 10, 64)
	if err != nil || seq == 0 || seq >= m.Sequence {
		return nil, messageHead{}, missingMessageError(run, h)
	}
	m, err = e.stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, messageHead{}, missingMessageError(run, h)
	}
	if err != nil {
		return nil, messageHead{}, fmt.Errorf("log: run %s: %w", run, e.explainError(err))
	}
	b, err := decodeHead(m.Data)
	if err == nil && (string(b.run) != run || b.lastSeq+1 != h.firstSeq) {
		err = missingMessageError(run, h)
	}
	return m, b, err
}

// errMissingMessage: a message is not where the next one says.
var errMissingMessage = errors.New("what was before can't be read")

func missingMessageError(run string, h messageHead) error {
	return fmt.Errorf("log: run %s: %w: entries up to %d: %w", run, ErrCorrupt, h.firstSeq-1, errMissingMessage)
}
