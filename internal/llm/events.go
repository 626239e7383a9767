package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// readEvents yields the data of the server-sent events of a body. It calls progress
// whenever a line has arrived. The error is the body's, or that an event is too large.
func readEvents(body io.Reader, progress func()) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(make([]byte, 0, 4<<10), maxEvent)
		var data []byte
		for lines.Scan() {
			progress()
			line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				if data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n'); len(data) > maxEvent {
					yield(nil, errLargeEvent)
					return
				}
			}
			if len(line) > 0 || len(data) == 0 {
				continue
			}
			if !yield(data[:len(data)-1], nil) {
				return
			}
			data = data[:0]
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, errLargeEvent)
		case err != nil:
			yield(nil, err)
		case len(data) > 0: // the last event lacks its empty line
			yield(data[:len(data)-1], nil)
		}
	}
}

var errLargeEvent = errors.New("an event is larger than 1 MiB")
