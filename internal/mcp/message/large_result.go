package message

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"

	"github.com/photon-beam/beam/internal/runlog"
)

// A LargeResult is the value of a result that is streamed to its reader rather than held in
// memory. An encoded message has marks in place of the value, as JSON strings that nobody
// can guess.
type LargeResult struct {
	open func() (io.ReadCloser, error)
	// isText says that the value is a JSON string, which is the text for people.
	isText bool
	// streamed says that the messages are encoded with marks.
	streamed bool
	mark     string
	size     int64 // of the value, in bytes
}

// The ends of marks: of the text for people, and of the value itself.
const (
	textMark  = "T"
	valueMark = "V"
)

// addLargeResult adds the large value that a run has ended with.
func (t *Translator) addLargeResult(r *ToolResult, end *runlog.Finished) error {
	open := func() (io.ReadCloser, error) { return t.Source.OpenResult(end) }
	f, err := open()
	if err != nil {
		return err
	}
	defer f.Close()
	var first [1]byte
	if _, err := io.ReadFull(f, first[:]); err != nil {
		return err
	}
	r.large = &LargeResult{open: open, isText: first[0] == '"', mark: "result-" + rand.Text() + "-", size: end.ResultSize}
	r.Content = append(r.Content, TextBlock(r.large.mark+textMark))
	r.Structured = structuredValue(t.Photon, t.Client, json.RawMessage(`"`+r.large.mark+valueMark+`"`), first[0] == '{')
	return nil
}

// TakeLarge returns the value of the result that must be streamed; nil if there is none. The
// caller promises to write what is encoded from now on with [LargeResult.WriteMessage].
func (r *ToolResult) TakeLarge() *LargeResult {
	if r == nil || r.large == nil {
		return nil
	}
	r.large.streamed = true
	return r.large
}

// WriteMessage writes an encoded message to w with the value in place of the marks.
func (l *LargeResult) WriteMessage(w io.Writer, encoded []byte) error {
	quoted := []byte(`"` + l.mark)
	for {
		before, after, found := bytes.Cut(encoded, quoted)
		if _, err := w.Write(before); err != nil || !found {
			return err
		}
		var err error
		if bytes.HasPrefix(after, []byte(textMark)) {
			err = l.writeText(w)
		} else {
			err = l.copyTo(w)
		}
		if err != nil {
			return err
		}
		encoded = after[len(textMark)+len(`"`):]
	}
}

// Outline returns an encoded message with notes in place of the value, and about how many
// bytes the whole message has.
func (l *LargeResult) Outline(encoded []byte) (outline []byte, size int) {
	size = len(encoded)
	for _, end := range []string{textMark, valueMark} {
		quoted := []byte(`"` + l.mark + end + `"`)
		size += bytes.Count(encoded, quoted) * int(l.size)
		encoded = bytes.ReplaceAll(encoded, quoted, fmt.Appendf(nil, `"A value of %d bytes"`, l.size))
	}
	return encoded, size
}

// Expand returns an encoded message with the value in place of the marks.
func (l *LargeResult) Expand(encoded []byte) ([]byte, error) {
	var b bytes.Buffer
	err := l.WriteMessage(&b, encoded)
	return b.Bytes(), err
}

// writeText writes the text for people as a JSON string: the value, if it is one, and
// otherwise its JSON.
func (l *LargeResult) writeText(w io.Writer) error {
	if l.isText {
		return l.copyTo(w)
	}
	if _, err := io.WriteString(w, `"`); err != nil {
		return err
	}
	if err := l.copyTo(&escaper{Writer: w}); err != nil {
		return err
	}
	_, err := io.WriteString(w, `"`)
	return err
}

// copySize is how much of a value is in memory for each reader, in bytes.
const copySize = 32 << 10

func (l *LargeResult) copyTo(w io.Writer) error {
	f, err := l.open()
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, copySize))
	return err
}

// An escaper writes JSON as it is written within a JSON string. Valid JSON has no control
// characters but white space.
type escaper struct {
	io.Writer
	buffer []byte
}

var jsonEscapes = map[byte]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// Write implements [io.Writer].
func (e *escaper) Write(p []byte) (int, error) {
	out := e.buffer[:0]
	for _, c := range p {
		if s := jsonEscapes[c]; s != "" {
			out = append(out, s...)
		} else {
			out = append(out, c)
		}
	}
	e.buffer = out
	_, err := e.Writer.Write(out)
	return len(p), err
}
