package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/transform"
)

const (
	readAheadSize = 64 << 10
	maxBareQuotes = 100 // in a quoted cell; it bounds how often the same text is searched
)

// A recordReader reads records one at a time (RFC 4180). A quoted cell may span lines. A
// quote in it should be doubled, but needn't be in a cell on one line.
//
// An opening quote without a closing one is stray. It is part of its cell, as if the cell
// weren't quoted: otherwise it would swallow rows, up to some later quote.
type recordReader struct {
	reader    io.Reader
	delimiter byte
	partial   bool // the text may end within a quoted cell, which is then an error

	text    []byte // read from reader
	at      int    // the beginning of the next record in text
	err     error  // of reader
	content []byte // of the record's cells
	ends    []int  // of the cells, in content

	line         int // on which the last record began
	lines        int // that it spans
	blankRecords int // records without content, which are skipped
	stray        lineList
}

var errOpenQuote = errors.New("a quoted cell has no end")

// newReader returns a reader of a file with this layout.
func (l layout) newReader(raw io.Reader) (*recordReader, error) {
	if _, err := io.CopyN(io.Discard, raw, int64(l.Charset.BOM)); err != nil {
		return nil, err
	}
	var text io.Reader = transform.NewReader(raw, l.Charset.Decoder.newTransformer())
	if l.BareCR {
		text = &carriageReturnReader{text}
	}
	if _, err := io.CopyN(io.Discard, text, int64(l.Preamble)); err != nil {
		return nil, err
	}
	r := newRecordReader(text, l.Delimiter)
	if l.Preamble > 0 {
		r.lines++
	}
	return r, nil
}

func newRecordReader(text io.Reader, delimiter rune) *recordReader {
	return &recordReader{reader: text, delimiter: byte(delimiter), lines: 1}
}

// next returns the next record, in the memory of the given one. The error is io.EOF after the
// last record.
func (r *recordReader) next(record []string) ([]string, error) {
	for {
		if err := r.readRecord(); err != nil {
			return nil, err
		}
		text := string(r.content)
		if text == "" && len(r.ends) == 1 {
			continue // an empty line
		}
		record = record[:0]
		begin := 0
		for _, end := range r.ends {
			record = append(record, text[begin:end])
			begin = end
		}
		if strings.TrimSpace(text) != "" {
			return record, nil
		}
		r.blankRecords++
	}
}

// readRecord reads a record into content and ends.
func (r *recordReader) readRecord() error {
	if r.at > len(r.text)/2 {
		r.text, r.at = append(r.text[:0], r.text[r.at:]...), 0
	}
	if r.at == len(r.text) && !r.fill() {
		return r.err
	}
	r.content, r.ends = r.content[:0], r.ends[:0]
	r.line, r.lines = r.line+r.lines, 1
	end, next, err := r.findLineEnd(r.at)
	for at := r.at; err == nil; at++ { // skips the delimiter
		closed := false
		if at < end && r.text[at] == '"' {
			begin := at
			if at, closed = r.readQuoted(at); !closed {
				r.stray.add(r.line + r.lines - 1)
			} else if n := bytes.Count(r.text[begin:at], []byte{'\n'}); n > 0 {
				r.lines += n
				end, next, err = r.findLineEnd(at)
			}
			if r.partial && !closed && r.err == io.EOF {
				return errOpenQuote
			}
		}
		if !closed {
			n := bytes.IndexByte(r.text[at:end], r.delimiter)
			if n < 0 {
				n = end - at
			}
			r.content = append(r.content, r.text[at:at+n]...)
			at += n
		}
		if r.ends = append(r.ends, len(r.content)); at >= end {
			break
		}
	}
	r.at = next
	if err == nil && r.err != io.EOF {
		err = r.err
	}
	return err
}

// findLineEnd returns where the line ends that has the character at from, and where the
// next one begins.
func (r *recordReader) findLineEnd(from int) (end, next int, err error) {
	for {
		if n := bytes.IndexByte(r.text[from:], '\n'); n >= 0 {
			end = from + n
			next = end + 1
			break
		}
		if from = len(r.text); from-r.at > maxRecord {
			return 0, 0, fmt.Errorf("the record on line %d has no end within 1 MB", r.line)
		}
		if !r.fill() {
			end, next = from, from
			break
		}
	}
	if end > r.at && r.text[end-1] == '\r' {
		end--
	}
	return end, next, nil
}

// readQuoted adds the content of the cell that begins with the quote at begin, and returns
// where it ends. If the quote is stray, it returns begin and false.
func (r *recordReader) readQuoted(begin int) (end int, closed bool) {
	start := len(r.content)
	spansLines, bare := false, 0 // bare counts the quotes from the first that isn't doubled
	for from, copied := begin+1, begin+1; bare <= maxBareQuotes; {
		n := bytes.IndexByte(r.text[from:], '"')
		part := r.text[from:]
		if n >= 0 {
			part = part[:n]
		}
		spansLines = spansLines || bytes.IndexByte(part, '\n') >= 0
		from += len(part)
		if spansLines && bare > 0 || from-r.at > maxRecord || n < 0 && !r.fill() {
			break
		}
		if n < 0 {
			continue
		}
		r.content = append(r.content, r.text[copied:from]...)
		if end, closed = r.closes(from + 1); closed {
			if spansLines && bytes.IndexByte(r.content[start:], '\r') >= 0 {
				r.content = append(r.content[:start], bytes.ReplaceAll(r.content[start:], []byte("\r\n"), []byte{'\n'})...)
			}
			return end, true
		}
		doubled := r.byteAt(from+1) == '"'
		if !doubled && spansLines {
			break
		}
		if bare > 0 || !doubled {
			bare++
		}
		if from++; doubled {
			from++
		}
		r.content = append(r.content, '"')
		copied = from
	}
	r.content = r.content[:start]
	return begin, false
}

// closes reports whether a quote before at ends a cell, perhaps with blanks after it, and
// returns the position of the delimiter or the line end.
func (r *recordReader) closes(at int) (end int, ok bool) {
	for c := r.byteAt(at); c == ' ' || c == '\t' && r.delimiter != '\t'; c = r.byteAt(at) {
		at++
	}
	switch c := r.byteAt(at); {
	case c == r.delimiter, c == '\n', at >= len(r.text):
		return at, true
	case c == '\r':
		return at, r.byteAt(at+1) == '\n' || at+1 >= len(r.text)
	}
	return 0, false
}

// byteAt returns the byte at a position of text, or 0 after its end.
func (r *recordReader) byteAt(at int) byte {
	for at >= len(r.text) {
		if !r.fill() {
			return 0
		}
	}
	return r.text[at]
}

// fill reads more text. It reports false if there is no more.
func (r *recordReader) fill() bool {
	if r.err != nil {
		return false
	}
	r.text = slices.Grow(r.text, readAheadSize)
	n, err := io.ReadAtLeast(r.reader, r.text[len(r.text):len(r.text)+readAheadSize], 1)
	r.text, r.err = r.text[:len(r.text)+n], err
	return n > 0
}

// A carriageReturnReader converts carriage returns to line feeds, for files that
// Excel saves in the format "Macintosh".
type carriageReturnReader struct{ reader io.Reader }

func (n *carriageReturnReader) Read(p []byte) (int, error) {
	count, err := n.reader.Read(p)
	for rest := p[:count]; ; {
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			return count, err
		}
		rest[i] = '\n'
		rest = rest[i+1:]
	}
}
