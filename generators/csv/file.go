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

// A file is what the person handed in, within the run that reads it.
type file struct {
	ask.Handle
	ctx   context.Context
	yield generators.Yield
}

func (f *file) name() string { return cmp.Or(f.Name, "the file") }

// explain puts the file's name before what is wrong with it.
func (f *file) explain(err error) error {
	if f.ctx.Err() != nil {
		return err // the run has ended, which is not the file's fault
	}
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		err = errors.New("it changed while it was read")
	}
	return fmt.Errorf("%s: %w", f.name(), err)
}

// sample returns the file's beginning, and whether that is all of it.
func (f *file) sample() (head []byte, whole bool, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	head, err = io.ReadAll(io.LimitReader(r, sampleSize+1))
	if len(head) > sampleSize {
		return head[:sampleSize], false, err
	}
	return head, true, err
}

// each calls do with every record from the beginning, the row of names
// included, and tells the progress meanwhile. It returns how many blank records
// it left out.
func (f *file) each(l layout, doing string, do func(record []string)) (blank int, err error) {
	r, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	records, err := l.records(&meter{from: r, file: f, doing: doing})
	if err != nil {
		return 0, err
	}
	for {
		record, err := records.next()
		if err == io.EOF {
			return records.blank, nil
		}
		if err != nil {
			return 0, err
		}
		do(record)
	}
}

// A meter tells how much of a file has been read, a hundred times at most, and
// fails when the run has ended.
type meter struct {
	from  io.Reader
	file  *file
	doing string
	done  int64
	told  int64
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.file.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.from.Read(p)
	m.done += int64(n)
	if due := m.done-m.told >= max(m.file.Size/100, 64<<10); due || err == io.EOF && m.done > m.told {
		m.told = m.done
		m.file.yield(generators.Progress(float64(m.done), m.total(), m.doing))
	}
	return n, err
}

// total is the file's size in bytes; 0, which is unknown, if that isn't right.
func (m *meter) total() float64 {
	if m.done > m.file.Size {
		return 0
	}
	return float64(m.file.Size)
}
