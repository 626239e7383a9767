package beam_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// An eventDecoder decodes the data of server-sent events.
type eventDecoder struct{ lines *bufio.Scanner }

func newEventDecoder(r io.Reader) *eventDecoder { return &eventDecoder{bufio.NewScanner(r)} }

// decode decodes the next event's data; the error is [io.EOF] at the end.
func (d *eventDecoder) decode(v any) error {
	for d.lines.Scan() {
		if data, ok := strings.CutPrefix(d.lines.Text(), "data: "); ok {
			return json.Unmarshal([]byte(data), v)
		}
	}
	if err := d.lines.Err(); err != nil {
		return err
	}
	return io.EOF
}
