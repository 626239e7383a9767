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

// A publisher publishes to the stream and takes its acknowledgements, over a
// connection of its own, so that none of them comes behind what is read.
type publisher struct {
	conn  *nats.Conn
	land  func() error         // has the disk know what the engine wrote, before any append returns
	heard func(*pendingAppend) // before the append returns, in the stream's order

	mu      sync.Mutex
	number  uint64
	waiting map[string]*pendingAppend // by the subject that the acknowledgement comes to
	err     error
}

// pendingAppend is a message that the engine has yet to acknowledge.
type pendingAppend struct {
	run      string
	firstSeq uint64  // ordinal of its first entry
	tail     runTail // after it; seq once acknowledged
	payload  []byte
	sentAt   time.Time
	err      error
	done     chan struct{} // closed when it has tail or err
}

// ackSubjectPrefix is where acknowledgements come to; there is nobody else on this server.
const ackSubjectPrefix = "_BEAM."

func newPublisher(s *server.Server, land func() error, heard func(*pendingAppend)) (*publisher, error) {
	w := &publisher{land: land, heard: heard, waiting: make(map[string]*pendingAppend)}
	var err error
	w.conn, err = nats.Connect("", nats.InProcessServer(s), nats.NoReconnect(), nats.Name("appends"),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // what ends the connection comes to closed
		nats.ClosedHandler(w.closed))
	if err != nil {
		return nil, fmt.Errorf("connecting to the log's engine: %w", err)
	}
	if _, err := w.conn.Subscribe(ackSubjectPrefix+"*", w.take); err != nil {
		w.conn.Close()
		return nil, fmt.Errorf("the log's engine: %w", err)
	}
	return w, nil
}

// publish sends a message that must be the next of its run's subject, and
// returns when the stream has it: all of it, or nothing. The error is an
// [*server.ApiError] or what closed the connection.
func (w *publisher) publish(p *pendingAppend, after uint64) error {
	p.done = make(chan struct{})
	if err := w.send(p, after); err != nil {
		return err
	}
	<-p.done
	return p.err
}

func (w *publisher) send(p *pendingAppend, after uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.number++
	m := &nats.Msg{
		Subject: subjectOf(p.run), Reply: ackSubjectPrefix + strconv.FormatUint(w.number, 10), Data: p.payload,
		Header: nats.Header{server.JSExpectedLastSubjSeq: {strconv.FormatUint(after, 10)}},
	}
	p.sentAt = time.Now()
	w.waiting[m.Reply] = p
	if err := w.conn.PublishMsg(m); err != nil {
		w.drop(fmt.Errorf("the log's engine: %w", err))
	}
	return nil
}

// take handles an acknowledgement.
func (w *publisher) take(m *nats.Msg) {
	landed := w.land()
	w.mu.Lock()
	if landed != nil { // whether anything that waits was recorded is in doubt
		w.drop(fmt.Errorf("the log's engine: %w", landed))
	}
	p := w.waiting[m.Subject]
	delete(w.waiting, m.Subject)
	w.mu.Unlock()
	if p == nil {
		return // it was given up
	}
	p.tail.streamSeq, p.err = parseAck(m)
	if p.err == nil {
		w.heard(p)
	}
	close(p.done)
}

// parseAck reads an acknowledgement.
func parseAck(m *nats.Msg) (seq uint64, err error) {
	if status := m.Header.Get("Status"); status != "" {
		return 0, fmt.Errorf("the log's engine: status %s", status) // 503, nobody there
	}
	var ack server.JSPubAckResponse
	if err := json.Unmarshal(m.Data, &ack); err != nil {
		return 0, fmt.Errorf("the log's engine: %w", err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	return ack.Sequence, nil
}

// waited is how long the oldest message has waited.
func (w *publisher) waited(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var longest time.Duration
	for _, p := range w.waiting {
		longest = max(longest, now.Sub(p.sentAt))
	}
	return longest
}

// fault is what closed the connection; nil if it is open.
func (w *publisher) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// closed is called when the connection has ended.
func (w *publisher) closed(conn *nats.Conn) {
	err := conn.LastError()
	if err == nil {
		err = nats.ErrConnectionClosed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(fmt.Errorf("the log's engine: %w", err))
}

// close ends the connection, and all that wait with an error.
func (w *publisher) close(err error) {
	w.mu.Lock()
	w.drop(err)
	w.mu.Unlock()
	w.conn.Close()
}

// drop takes no more. Callers hold mu.
func (w *publisher) drop(err error) {
	if w.err == nil {
		w.err = err
	}
	for reply, p := range w.waiting {
		p.err = fmt.Errorf("%w: %w", runlog.ErrUncertain, w.err)
		close(p.done)
		delete(w.waiting, reply)
	}
}
