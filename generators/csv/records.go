package csv

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/transform"
)

// endMarker is appended to the text as a record of its own. If it isn't read as one,
// a quote was never closed, which encoding/csv doesn't report with LazyQuotes.
const endMarker = "\x03end of file\x03"

const readAheadSize = 64 << 10

var errLongRecord = errors.New("a record is too long")

// A recordReader reads records one at a time.
type recordReader struct {
	csv          *csv.Reader
	limiter      *recordLimiter
	line         int // on which the last record began
	blankRecords int // records without content, which are skipped
}

// newReader returns a reader of a file with this layout.
func (l layout) newReader(raw io.Reader) (*recordReader, error) {
	if _, err := io.CopyN(io.Discard, raw, int64(l.charset.bom)); err != nil {
		return nil, err
	}
	text := raw
	if l.charset.decoder != nil {
		text = transform.NewReader(raw, l.charset.decoder())
	}
	if l.bareCR {
		text = &carriageReturnReader{text}
	}
	if _, err := io.CopyN(io.Discard, text, int64(l.preamble)); err != nil {
		return nil, err
	}
	r := newRecordReader(text, l.delimiter)
	if l.preamble > 0 {
		r.line = 1
	}
	return r, nil
}

func newRecordReader(text io.Reader, delimiter rune) *recordReader {
	r := &recordReader{limiter: &recordLimiter{reader: io.MultiReader(text, strings.NewReader("\n"+endMarker+"\n"))}}
	r.csv = csv.NewReader(bufio.NewReaderSize(r.limiter, readAheadSize))
	r.csv.Comma = delimiter
	r.csv.LazyQuotes = true // allow a quote in the middle of a cell
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	return r
}

// next returns the next record, which is valid until next is called again. The error
// is io.EOF after the last record.
func (r *recordReader) next() ([]string, error) {
	for {
		r.limiter.limit = r.csv.InputOffset() + maxRecord + readAheadSize
		record, err := r.csv.Read()
		switch {
		case errors.Is(err, errLongRecord):
			return nil, r.openQuoteError("has no end within 1 MB. It probably has")
		case err == io.EOF:
			return nil, r.openQuoteError("has")
		case err != nil:
			return nil, err
		}
		last := record[len(record)-1]
		if len(record) == 1 && last == endMarker {
			return nil, io.EOF
		}
		if strings.HasSuffix(last, endMarker+"\n") {
			return nil, r.openQuoteError("has")
		}
		r.line, _ = r.csv.FieldPos(0)
		if !isBlank(record) {
			return record, nil
		}
		r.blankRecords++
	}
}

// openQuoteError returns the error for a record with a quote that is never closed.
func (r *recordReader) openQuoteError(fault string) error {
	where := "the first record"
	if r.line > 0 {
		where = fmt.Sprintf("the record after line %d", r.line)
	}
	return fmt.Errorf(`%s %s an opening quote (") without a closing one. A cell that begins with a quote must end with one, and quotes within it must be doubled ("")`,
		where, fault)
}

func isBlank(record []string) bool {
	for _, cell := range record {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}

// A recordLimiter fails reads beyond its limit. Without it, a stray quote would make
// the rest of the file a single cell in memory.
type recordLimiter struct {
	reader           io.Reader
	bytesRead, limit int64
}

func (l *recordLimiter) Read(p []byte) (int, error) {
	if l.bytesRead > l.limit {
		return 0, errLongRecord
	}
	n, err := l.reader.Read(p)
	l.bytesRead += int64(n)
	return n, err
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
