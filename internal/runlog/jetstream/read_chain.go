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

// The header of each message names the previous message of its run, because the
// append was conditional on it. A short tail of a run is therefore read backward
// from the last message, each message by its sequence. Reading forward is slow
// for a run that has waited: to find a subject's next message, the server
// searches all messages of other runs in between.

// A longer tail is read in pages; see [cursor.readEntries].
const (
	maxChainMessages = 32
	maxChainEntries  = 512
)

// readChain reads the entries of a run after an ordinal, and returns the end of
// the run. If there are too many entries, it returns none, and done is false.
func (b *broker) readChain(ctx context.Context, run string, after uint64) (all []runlog.Entry, end runTail, done bool, err error) {
	last, h, err := b.lastMessage(ctx, run)
	if err != nil || last == nil {
		return nil, runTail{}, true, err
	}
	end = runTail{last.Sequence, h.lastSeq, h.finished}
	if h.lastSeq > after+maxChainEntries {
		return nil, end, false, nil
	}
	var heads []messageHead
	for m := last; h.lastSeq > after; {
		if heads = append(heads, h); h.firstSeq <= after+1 {
			break
		}
		if len(heads) == maxChainMessages {
			return nil, end, false, nil
		}
		if m, h, err = b.previousMessage(ctx, run, m, h); err != nil {
			return nil, end, true, err
		}
	}
	for _, h := range slices.Backward(heads) {
		if all, err = h.decodeEntries(all, after); err != nil {
			return nil, end, true, fmt.Errorf("reading run %s: %w", run, err)
		}
	}
	return all, end, true, nil
}

// lastMessage returns the last message of a run, or nil if there is none.
func (b *broker) lastMessage(ctx context.Context, run string) (*jetstream.RawStreamMsg, messageHead, error) {
	m, err := b.stream.GetLastMsgForSubject(ctx, subjectOf(run))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, messageHead{}, nil
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", runlog.ErrUnavailable, err) // the client's own timeout: the server is too busy
	}
	if err != nil {
		return nil, messageHead{}, fmt.Errorf("reading the end of run %s: %w", run, b.explainError(err))
	}
	h, err := decodeHead(m.Data)
	if err != nil {
		return nil, messageHead{}, fmt.Errorf("reading run %s: %w", run, err)
	}
	return m, h, nil
}

// previousMessage returns the message that m, with head h, follows in its run.
func (b *broker) previousMessage(ctx context.Context, run string, m *jetstream.RawStreamMsg, h messageHead) (*jetstream.RawStreamMsg, messageHead, error) {
	seq, err := strconv.ParseUint(m.Header.Get(server.JSExpectedLastSubjSeq), 10, 64)
	if err != nil || seq == 0 || seq >= m.Sequence {
		return nil, messageHead{}, missingMessageError(run, h)
	}
	m, err = b.stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, messageHead{}, missingMessageError(run, h)
	}
	if err != nil {
		return nil, messageHead{}, fmt.Errorf("reading run %s: %w", run, b.explainError(err))
	}
	prev, err := decodeHead(m.Data)
	if err == nil && (string(prev.run) != run || prev.lastSeq+1 != h.firstSeq) {
		err = missingMessageError(run, h)
	}
	return m, prev, err
}

// errMissingMessage means that a message is not where its successor says.
var errMissingMessage = errors.New("the previous message can't be read")

func missingMessageError(run string, h messageHead) error {
	return fmt.Errorf("reading run %s: %w: entries up to %d: %w", run, ErrCorrupt, h.firstSeq-1, errMissingMessage)
}
