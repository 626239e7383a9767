package csv

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// askFile asks for a file until it gets one that it can read as CSV. Each further
// question says what was wrong with the last file.
func askFile(ctx context.Context, yield generators.Yield) (*file, *tableInfo, error) {
	question := "Which CSV file do you want to explore?"
	for message := question; ; {
		handle, err := ask.File(yield, "file", message, ask.MaxSize(maxSize),
			ask.Accepting(".csv", ".tsv", ".txt", "text/csv", "text/tab-separated-values", "text/plain"))
		if err != nil {
			return nil, nil, err
		}
		f := &file{Handle: handle, ctx: ctx, yield: yield}
		read, err := generators.Step(yield, "read", func(context.Context) (readFile, error) { return f.read() })
		if err != nil {
			return nil, nil, err
		}
		if read.Problem == "" {
			return f, read.Info, nil
		}
		yield(generators.StatusAt(generators.Warning, read.Problem))
		message = read.Problem + "\n\n" + question
	}
}

// A readFile is what a file has, or why it can't be read as CSV.
type readFile struct {
	Info    *tableInfo `json:",omitempty"`
	Problem string     `json:",omitempty"`
}

// read reads the whole file. An error is one of the storage, or says that the run was
// stopped.
func (f *file) read() (readFile, error) {
	found, err := f.scanFile()
	if err == nil && found.Rows == 0 {
		err = errors.New("the file has column names but no rows")
	}
	if err == nil {
		return readFile{Info: found}, nil
	}
	err = f.withFileName(err)
	if _, unreadable := errors.AsType[*readError](err); unreadable || f.ctx.Err() != nil {
		return readFile{}, err
	}
	return readFile{Problem: err.Error()}, nil
}

// A readError is an error of the storage, not of what a file contains.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }
