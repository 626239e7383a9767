package csv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A file is the uploaded file, and the run that reads it.
type file struct {
	ask.Handle
	ctx   context.Context
	yield generators.Yield
}

func (f *file) name() string { return cmp.Or(f.Name, "the file") }

// withFileName adds the file's name to an error, unless the run has been stopped.
func (f *file) withFileName(err error) error {
	if f.ctx.Err() != nil {
		return err
	}
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		err = errors.New("the file changed while it was read")
	}
	return fmt.Errorf("%s: %w", f.name(), err)
}

// readSample returns the beginning of the file. whole reports whether that is all
// of it.
func (f *file) readSample() (head []byte, whole bool, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, false, &readError{err}
	}
	defer r.Close()
	if head, err = io.ReadAll(io.LimitReader(r, sampleSize+1)); err != nil {
		return nil, false, &readError{err}
	}
	return head[:min(len(head), sampleSize)], len(head) <= sampleSize, nil
}

// eachRecord calls do with each record of the file, including the column names, until done
// with its reader, and reports its progress as activity. It skips blank records.
func (f *file) eachRecord(l layout, activity string, do func(r *recordReader, record []string)) (*recordReader, error) {
	content, err := f.Open()
	if err != nil {
		return nil, &readError{err}
	}
	defer content.Close()
	r, err := l.newReader(&progressReader{reader: content, file: f, activity: activity})
	var record []string
	for err == nil {
		if record, err = r.next(record); err == nil {
			do(r, record)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return r, err
}

// A progressReader reports how much of a file has been read, at most a hundred
// times. It fails when the run has been stopped.
type progressReader struct {
	reader        io.Reader
	file          *file
	activity      string
	bytesRead     int64
	bytesReported int64
}

func (m *progressReader) Read(p []byte) (int, error) {
	if err := m.file.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.reader.Read(p)
	if err != nil && err != io.EOF {
		err = &readError{err}
	}
	m.bytesRead += int64(n)
	if due := m.bytesRead-m.bytesReported >= max(m.file.Size/100, 64<<10); due || err == io.EOF && m.bytesRead > m.bytesReported {
		m.bytesReported = m.bytesRead
		m.file.yield(generators.Progress(float64(m.bytesRead), m.total(), m.activity))
	}
	return n, err
}

// total returns the file's size in bytes, or 0, which means unknown, if the file
// turns out to be larger.
func (m *progressReader) total() float64 {
	if m.bytesRead > m.file.Size {
		return 0
	}
	return float64(m.file.Size)
}
