package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// An event is a server-sent event (HTML, Server-sent events).
type event struct {
	name  string // "message" if the server gave none
	data  []byte
	id    string        // the last id that the stream had, with this event
	retry time.Duration // 0 if the event has none
}

// An eventReader reads server-sent events. It bounds what it keeps of one.
type eventReader struct {
	in *bufio.Reader
	id string
}

var errEventTooLarge = errors.New("an event of the stream is too large")

// maxEventField bounds a line of an event that isn't its data, in bytes.
const maxEventField = 4 << 10

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{in: bufio.NewReaderSize(r, 32<<10)}
}

// next returns the next event, or the error that ended the stream. An event that the
// stream's end cut off doesn't count. Events without data are returned, too: they may
// have an id.
func (r *eventReader) next() (event, error) {
	e := event{}
	isEmpty, hasData := true, false
	for {
		line, err := r.readLine()
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			if isEmpty {
				continue
			}
			if e.name == "" {
				e.name = "message"
			}
			e.id = r.id
			return e, nil
		}
		if line[0] == ':' {
			continue
		}
		isEmpty = false
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		if string(field) == "data" {
			if hasData {
				e.data = append(e.data, '\n')
			}
			hasData = true
			if e.data = append(e.data, value...); len(e.data) > message.MaxSize {
				return event{}, errEventTooLarge
			}
			continue
		}
		if len(value) > maxEventField {
			return event{}, errEventTooLarge
		}
		switch string(field) {
		case "event":
			e.name = string(value)
		case "id":
			if !bytes.ContainsRune(value, 0) {
				r.id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// readLine reads a line without its end. It is valid until the next call.
func (r *eventReader) readLine() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.in.ReadSlice('\n')
			if long = append(long, line...); len(long) > message.MaxSize+maxEventField {
				return nil, errEventTooLarge
			}
		}
		line = long
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}
