package sse

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Message is one server-sent event.
type Message struct {
	ID     uint64 // the ordinal of the log entry that it is about; 0 is no id
	TextID string // an id that is not an ordinal, instead of ID
	Type   string // the event field; empty is "message"
	Data   []byte // any text; its lines become data fields
	// WriteData, if it is set, writes the data that Data stands for, which may be large, as
	// one line.
	WriteData func(w io.Writer, data []byte) error
	// Partial adds [PartialMark] to the ID.
	Partial bool
	// Retry, if not 0, is how long the reader should wait before it reconnects.
	Retry time.Duration
}

// PartialMark ends the id of the first message of a batch of several: a reader that
// reconnects with such an id has everything up to the ordinal, and may have part of
// what follows.
const PartialMark = "+"

// idReplacer removes what would end the id field.
var idReplacer = strings.NewReplacer("\n", "", "\r", "")

// appendTo appends the message in the wire format; up to its data, if that is to be
// written by WriteData.
func (m *Message) appendTo(b *bytes.Buffer) {
	if m.Type != "" {
		b.WriteString("event: " + m.Type + "\n")
	}
	switch {
	case m.TextID != "":
		b.WriteString("id: " + idReplacer.Replace(m.TextID) + "\n")
	case m.ID > 0:
		b.WriteString("id: ")
		b.Write(strconv.AppendUint(b.AvailableBuffer(), m.ID, 10))
		if m.Partial {
			b.WriteString(PartialMark)
		}
		b.WriteByte('\n')
	}
	if m.Retry > 0 {
		b.WriteString("retry: " + strconv.FormatInt(m.Retry.Milliseconds(), 10) + "\n")
	}
	if m.WriteData != nil {
		b.WriteString("data: ")
		return
	}
	for line := range bytes.Lines(normalizeNewlines(m.Data)) {
		b.WriteString("data: ")
		b.Write(bytes.TrimSuffix(line, []byte("\n")))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// normalizeNewlines makes every line end with a line feed. To the reader a carriage
// return ends a line too, so a text could otherwise forge fields.
func normalizeNewlines(data []byte) []byte {
	if bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
}
