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
		found, err := f.scanFile()
		if err == nil && found.rows == 0 {
			err = errors.New("the file has column names but no rows")
		}
		if err == nil {
			return f, found, nil
		}
		err = f.withFileName(err)
		if _, unreadable := errors.AsType[*readError](err); unreadable || ctx.Err() != nil {
			return nil, nil, err
		}
		yield(generators.StatusAt(generators.Warning, err.Error()))
		message = err.Error() + "\n\n" + question
	}
}

// A readError is an error of the storage, not of what a file contains.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }
