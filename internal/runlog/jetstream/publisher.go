package jetstream

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/photon-beam/beam/internal/runlog"
)

// A publisher publishes messages to the stream and receives the
// acknowledgements. It has a connection of its own, so that acknowledgements
// don't queue behind messages that are read.
type publisher struct {
	conn       *nats.Conn
	syncFolder func() error         // called before an append returns
	onAck      func(*pendingAppend) // called before an append returns, in the stream's order

	mu        sync.Mutex
	lastReply uint64
	pending   map[string]*pendingAppend // by reply subject
	err       error
}

// pendingAppend is a message that the server has yet to acknowledge.
type pendingAppend struct {
	run      string
	firstSeq uint64  // ordinal of its first entry
	tail     runTail // of the run after it; streamSeq is set by the acknowledgement
	payload  []byte
	sentAt   time.Time
	err      error
	done     chan struct{} // closed when tail or err is set
}

// ackSubjectPrefix begins the subjects of acknowledgements. The server has no
// other clients.
const ackSubjectPrefix = "_BEAM."

func newPublisher(s *server.Server, syncFolder func() error, onAck func(*pendingAppend)) (*publisher, error) {
	p := &publisher{syncFolder: syncFolder, onAck: onAck, pending: make(map[string]*pendingAppend)}
	var err error
	p.conn, err = connectInProcess(s, nats.Name("appends"),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // handleClosed gets what ends the connection
		nats.ClosedHandler(p.handleClosed))
	if err != nil {
		return nil, err
	}
	if _, err := p.conn.Subscribe(ackSubjectPrefix+"*", p.handleAck); err != nil {
		p.conn.Close()
		return nil, fmt.Errorf("NATS server: %w", err)
	}
	return p, nil
}

// publish sends a message that must directly follow the message with sequence
// after on its run's subject, and waits for the acknowledgement. The error is a
// [*server.ApiError], or why the connection ended.
func (p *publisher) publish(a *pendingAppend, after uint64) error {
	a.done = make(chan struct{})
	if err := p.send(a, after); err != nil {
		return err
	}
	<-a.done
	return a.err
}

func (p *publisher) send(a *pendingAppend, after uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	p.lastReply++
	m := &nats.Msg{
		Subject: subjectOf(a.run), Reply: ackSubjectPrefix + strconv.FormatUint(p.lastReply, 10), Data: a.payload,
		Header: nats.Header{server.JSExpectedLastSubjSeq: {strconv.FormatUint(after, 10)}},
	}
	a.sentAt = time.Now()
	p.pending[m.Reply] = a
	if err := p.conn.PublishMsg(m); err != nil {
		p.failPending(fmt.Errorf("NATS server: %w", err))
	}
	return nil
}

// handleAck handles an acknowledgement.
func (p *publisher) handleAck(m *nats.Msg) {
	syncErr := p.syncFolder()
	p.mu.Lock()
	if syncErr != nil { // the pending appends may or may not survive a power failure
		p.failPending(fmt.Errorf("NATS server: %w", syncErr))
	}
	a := p.pending[m.Subject]
	delete(p.pending, m.Subject)
	p.mu.Unlock()
	if a == nil {
		return // it has failed already
	}
	a.tail.streamSeq, a.err = parseAck(m)
	if a.err == nil {
		p.onAck(a)
	}
	close(a.done)
}

// parseAck returns the stream sequence that an acknowledgement names.
func parseAck(m *nats.Msg) (seq uint64, err error) {
	if status := m.Header.Get("Status"); status != "" {
		return 0, fmt.Errorf("NATS server: status %s", status) // 503: no responders
	}
	var ack server.JSPubAckResponse
	if err := json.Unmarshal(m.Data, &ack); err != nil {
		return 0, fmt.Errorf("NATS server: %w", err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	return ack.Sequence, nil
}

// oldestWait returns how long the oldest pending append has waited.
func (p *publisher) oldestWait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var longest time.Duration
	for _, a := range p.pending {
		longest = max(longest, now.Sub(a.sentAt))
	}
	return longest
}

// connectionError returns why the connection ended, or nil if it is open.
func (p *publisher) connectionError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// handleClosed is called when the connection has ended.
func (p *publisher) handleClosed(conn *nats.Conn) {
	err := conn.LastError()
	if err == nil {
		err = nats.ErrConnectionClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failPending(fmt.Errorf("NATS server: %w", err))
}

// close ends the connection. Pending appends fail with err.
func (p *publisher) close(err error) {
	p.mu.Lock()
	p.failPending(err)
	p.mu.Unlock()
	p.conn.Close()
}

// failPending fails all pending appends with [runlog.ErrUncertain], and all
// later ones with the first err. Callers hold mu.
func (p *publisher) failPending(err error) {
	if p.err == nil {
		p.err = err
	}
	for reply, a := range p.pending {
		a.err = fmt.Errorf("%w: %w", runlog.ErrUncertain, p.err)
		close(a.done)
		delete(p.pending, reply)
	}
}
