package jetstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/photon-beam/beam/internal/log"
)

// wire publishes to the stream and takes its acknowledgements, in NATS's client
// protocol over the server's in-process connection. nats.go does the rest of
// our work; for this, the goroutine through which it writes costs more than the
// append itself.
type wire struct {
	conn  net.Conn
	land  func() error   // has the disk know what the engine wrote, before any append returns
	heard func(*pending) // before the append returns, in the stream's order

	mu      sync.Mutex // of the connection's writing side, and the fields below
	buf     []byte
	number  uint64
	waiting map[uint64]*pending
	err     error
}

// pending is a message that the engine has yet to acknowledge.
type pending struct {
	run     string
	first   uint64 // ordinal of its first entry
	tail    tail   // after it; seq once acknowledged
	payload []byte
	sent    time.Time
	err     error
	done    chan struct{} // closed when it has tail or err
}

// inbox is where acknowledgements come to; there is nobody else on this server.
const inbox = "_BEAM."

func newWire(conn net.Conn, land func() error, heard func(*pending)) (*wire, error) {
	w := &wire{conn: conn, land: land, heard: heard, waiting: make(map[uint64]*pending)}
	in := bufio.NewReaderSize(conn, 64<<10)
	if _, err := in.ReadSlice('\n'); err != nil { // INFO
		return nil, fmt.Errorf("the log's engine: %w", err)
	}
	const hello = `CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"name":"appends"}` +
		"\r\nSUB " + inbox + "* 1\r\n"
	if _, err := io.WriteString(conn, hello); err != nil {
		return nil, fmt.Errorf("the log's engine: %w", err)
	}
	go w.listen(in)
	return w, nil
}

// publish sends a message that must be the next of its run's subject, and
// returns when the stream has it: all of it, or nothing. The error is an
// [*server.ApiError] or what closed the wire.
func (w *wire) publish(p *pending, after uint64, payload []byte) error {
	p.done = make(chan struct{})
	if err := w.send(p, after, payload); err != nil {
		return err
	}
	<-p.done
	return p.err
}

func (w *wire) send(p *pending, after uint64, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.number++
	p.sent = time.Now()
	w.waiting[w.number] = p
	w.buf = frame(w.buf[:0], subject(p.run), w.number, after, payload)
	_, err := w.conn.Write(w.buf)
	if cap(w.buf) > 1<<20 {
		w.buf = nil
	}
	if err != nil {
		w.drop(fmt.Errorf("the log's engine: %w", err))
	}
	return nil
}

// frame is an HPUB with the header that compares.
func frame(buf []byte, subject string, number, after uint64, payload []byte) []byte {
	var digits [20]byte
	last := strconv.AppendUint(digits[:0], after, 10)
	const begin = "NATS/1.0\r\n" + server.JSExpectedLastSubjSeq + ": "
	const end = "\r\n\r\n"
	head := len(begin) + len(last) + len(end)
	buf = append(append(buf, "HPUB "...), subject...)
	buf = strconv.AppendUint(append(buf, " "+inbox...), number, 10)
	buf = strconv.AppendInt(append(buf, ' '), int64(head), 10)
	buf = strconv.AppendInt(append(buf, ' '), int64(head+len(payload)), 10)
	buf = append(append(append(append(buf, "\r\n"...), begin...), last...), end...)
	return append(append(buf, payload...), "\r\n"...)
}

// listen reads what the server says until the connection ends.
func (w *wire) listen(in *bufio.Reader) {
	for {
		line, err := in.ReadSlice('\n')
		if err == nil {
			err = w.take(bytes.TrimRight(line, "\r\n"), in)
		}
		if err != nil {
			w.close(fmt.Errorf("the log's engine: %w", err))
			return
		}
	}
}

// take handles one line, and what follows it.
func (w *wire) take(line []byte, in *bufio.Reader) error {
	verb, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(verb) {
	case "MSG", "HMSG":
		return w.message(bytes.Fields(rest), in)
	case "PING":
		// Not from here: who writes may wait for the server, and the server for
		// us to read.
		go w.pong()
	case "-ERR":
		return errors.New(string(rest))
	}
	return nil
}

func (w *wire) pong() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.WriteString(w.conn, "PONG\r\n") // who writes next hears of an error
}

// message is MSG's subject, subscription and size, or HMSG's, whose size of the
// headers comes before that.
func (w *wire) message(fields [][]byte, in *bufio.Reader) error {
	if len(fields) < 3 {
		return fmt.Errorf("a message of %d fields", len(fields))
	}
	number, err := strconv.ParseUint(string(bytes.TrimPrefix(fields[0], []byte(inbox))), 10, 64)
	size, err2 := strconv.Atoi(string(fields[len(fields)-1]))
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	body := make([]byte, size+2)
	if _, err := io.ReadFull(in, body); err != nil {
		return err
	}
	if err := w.land(); err != nil {
		return err // and whether anything that waits was recorded is in doubt
	}
	w.mu.Lock()
	p := w.waiting[number]
	delete(w.waiting, number)
	w.mu.Unlock()
	if p == nil {
		return nil // it was given up
	}
	p.tail.seq, p.err = result(body[:size])
	if p.err == nil {
		w.heard(p)
	}
	close(p.done)
	return nil
}

// result reads an acknowledgement.
func result(body []byte) (seq uint64, err error) {
	if bytes.HasPrefix(body, []byte("NATS/")) {
		return 0, fmt.Errorf("the log's engine: %s", bytes.TrimSpace(body)) // 503, nobody there
	}
	var ack server.JSPubAckResponse
	if digits, ok := bytes.CutPrefix(body, []byte(plainAck)); ok {
		if seq, err := strconv.ParseUint(strings.TrimSuffix(string(digits), "}"), 10, 64); err == nil {
			return seq, nil
		}
	}
	if err := json.Unmarshal(body, &ack); err != nil {
		return 0, fmt.Errorf("the log's engine: %w", err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	return ack.Sequence, nil
}

// plainAck begins an acknowledgement that says nothing but a sequence.
const plainAck = `{"stream":"` + streamName + `","seq":`

// waited is how long the oldest message has waited.
func (w *wire) waited(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var longest time.Duration
	for _, p := range w.waiting {
		longest = max(longest, now.Sub(p.sent))
	}
	return longest
}

// fault is what closed the wire; nil if it is open.
func (w *wire) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// close ends the connection, and all that wait with an error.
func (w *wire) close(err error) {
	_ = w.conn.Close() // first: who writes holds the lock
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(err)
}

// drop: callers hold mu.
func (w *wire) drop(err error) {
	if w.err == nil {
		w.err = err
	}
	for number, p := range w.waiting {
		p.err = fmt.Errorf("%w: %w", log.ErrInDoubt, w.err)
		close(p.done)
		delete(w.waiting, number)
	}
}
