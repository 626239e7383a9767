// Package table reads pages of the tables that runs make, sorted and filtered, and writes
// them as CSV. It reads the JSON that they are as a stream: of a table of any size, it holds
// a page, and for each row a key while it sorts.
package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/web/internal/jsonstream"
)

// Limits on tables.
const (
	maxSorted  = 200_000 // rows
	maxMembers = 1_000   // distinct names of the members of a list of objects
)

// Errors of tables.
var (
	// ErrNotTable is the error for JSON that is not a table.
	ErrNotTable = errors.New("it is not a table")
	// ErrTooLong is the error for a table with too many rows to sort.
	ErrTooLong = fmt.Errorf("a table of more than %d rows can't be sorted here; filter it first", maxSorted)
)

// A Table is a table in a JSON text. It is not safe for concurrent use.
type Table struct {
	Columns []string

	source io.ReadSeeker
	reader *jsonstream.Reader
	// rows is where the list of rows begins.
	rows int64
	// column finds the columns of rows that are objects; nil if rows are lists.
	column map[string]int
}

// Open opens the body of an artifact of [generators.TableType]. The table reads from source
// while it is used.
func Open(source io.ReadSeeker) (*Table, error) {
	t := &Table{source: source, reader: jsonstream.New(source), rows: -1}
	if err := t.reader.Enter('{'); err != nil {
		return nil, notTable(err)
	}
	var columns json.RawMessage
	for columns == nil || t.rows < 0 {
		more, err := t.reader.More()
		if err != nil {
			return nil, notTable(err)
		}
		if !more {
			break
		}
		if columns, err = t.readMember(columns); err != nil {
			return nil, notTable(err)
		}
	}
	if columns != nil && json.Unmarshal(columns, &t.Columns) != nil {
		return nil, ErrNotTable
	}
	return t, nil
}

// readMember reads a member of a table: its columns, which it returns, or where its rows are.
func (t *Table) readMember(columns json.RawMessage) (json.RawMessage, error) {
	name, err := t.reader.Name()
	if err != nil {
		return nil, err
	}
	switch name {
	case "columns":
		value, err := t.reader.Value()
		return append(json.RawMessage{}, value...), err
	case "rows":
		c, err := t.reader.Peek()
		if err == nil && c == '[' {
			t.rows = t.reader.Offset()
		}
		if err != nil || columns != nil && t.rows >= 0 { // all is known
			return columns, err
		}
	}
	return columns, t.reader.Skip()
}

// OpenList opens the list of objects that a JSON Pointer (RFC 6901) points at in a JSON text
// as a table. Its columns are the names of the objects' members.
func OpenList(ctx context.Context, source io.ReadSeeker, pointer string) (*Table, error) {
	t := &Table{source: source, reader: jsonstream.New(source), column: map[string]int{}}
	if err := t.reader.Seek(pointer); err != nil {
		return nil, notTable(err)
	}
	t.rows = t.reader.Offset()
	for row, err := range t.scanRows(ctx) {
		if err != nil {
			return nil, notTable(err)
		}
		if row.raw[0] != '{' {
			return nil, ErrNotTable
		}
		rawjson.EachMember(row.raw, func(name []byte, _ json.RawMessage) {
			if _, known := t.column[string(name)]; !known && len(t.Columns) < maxMembers {
				t.column[string(name)] = len(t.Columns)
				t.Columns = append(t.Columns, string(name))
			}
		})
	}
	if len(t.Columns) == 0 {
		return nil, ErrNotTable
	}
	return t, nil
}

func notTable(err error) error {
	if errors.Is(err, jsonstream.ErrSyntax) || errors.Is(err, jsonstream.ErrNotFound) {
		return ErrNotTable
	}
	return err
}

// A rawRow is a row as it is in the text, and where. It is valid until the next one is read.
type rawRow struct {
	raw    json.RawMessage
	offset int64
}

// rowsPerCheck is how many rows are read between two looks at the context.
const rowsPerCheck = 1000

// all returns the rows, from the first.
func (t *Table) all(ctx context.Context) iter.Seq2[rawRow, error] {
	return func(yield func(rawRow, error) bool) {
		if t.rows < 0 {
			return
		}
		if err := t.seek(t.rows); err != nil {
			yield(rawRow{}, err)
			return
		}
		t.scanRows(ctx)(yield)
	}
}

// scanRows returns the rows of the list that the reader is at.
func (t *Table) scanRows(ctx context.Context) iter.Seq2[rawRow, error] {
	return func(yield func(rawRow, error) bool) {
		err := t.reader.Enter('[')
		for n := 0; err == nil; n++ {
			more := false
			if more, err = t.reader.More(); err != nil || !more {
				break
			}
			if n%rowsPerCheck == 0 && ctx.Err() != nil {
				err = context.Cause(ctx)
				break
			}
			row := rawRow{offset: t.reader.Offset()}
			if row.raw, err = t.reader.Value(); err == nil && !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(rawRow{}, err)
		}
	}
}

func (t *Table) rowAt(at rowPlace) (json.RawMessage, error) {
	if _, err := t.source.Seek(at.offset, io.SeekStart); err != nil {
		return nil, err
	}
	raw := make(json.RawMessage, at.length)
	_, err := io.ReadFull(t.source, raw)
	return raw, err
}

func (t *Table) seek(offset int64) error {
	if _, err := t.source.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	t.reader.Reset(t.source, offset)
	return nil
}

// cells returns the first n cells of a row, nil where there is none. It reuses cells.
func (t *Table) cells(raw json.RawMessage, n int, cells []json.RawMessage) []json.RawMessage {
	cells = cells[:0]
	if t.column == nil {
		if len(raw) == 0 || raw[0] != '[' {
			return cells
		}
		rawjson.EachElement(raw, func(value json.RawMessage) bool {
			if len(cells) < n {
				cells = append(cells, value)
			}
			return len(cells) < n
		})
		return cells
	}
	for range n {
		cells = append(cells, nil)
	}
	rawjson.EachMember(raw, func(name []byte, value json.RawMessage) {
		if c, ok := t.column[string(name)]; ok && c < n {
			cells[c] = value
		}
	})
	return cells
}
