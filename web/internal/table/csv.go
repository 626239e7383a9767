package table

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// WriteDelimited writes the rows that a query wants, of all pages, as comma-separated values
// (RFC 4180, with lines that end in \n), or separated by tabs. Spreadsheets take a cell that
// begins with =, +, -, @ or a control character for a formula, which may send the table
// elsewhere: unless it is a number, such a cell gets an apostrophe in front, which
// spreadsheets take for the mark of a text.
func (t *Table) WriteDelimited(ctx context.Context, w io.Writer, q Query, separator rune) error {
	out := csv.NewWriter(w)
	out.Comma = separator
	record := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		record[i] = guardFormula(name)
	}
	if err := out.Write(record); err != nil {
		return err
	}
	var cells []json.RawMessage
	write := func(raw json.RawMessage) error {
		cells = t.cells(raw, len(record), cells)
		for i := range record {
			record[i] = ""
			if i < len(cells) {
				record[i] = guardFormula(cellText(cells[i]))
			}
		}
		return out.Write(record)
	}
	if err := t.eachRow(ctx, q, write); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// eachRow calls each with all rows that a query wants.
func (t *Table) eachRow(ctx context.Context, q Query, each func(json.RawMessage) error) error {
	total := 0
	if q.Sort <= 0 || q.Sort > len(t.Columns) {
		for row, err := range t.matching(ctx, q.Text, &total) {
			if err == nil {
				err = each(row.raw)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	keys, err := t.sortedKeys(ctx, q, &total)
	if err != nil {
		return err
	}
	for n, k := range keys {
		if n%rowsPerCheck == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		raw, err := t.rowAt(k.offset, k.length)
		if err == nil {
			err = each(raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// guardFormula returns a cell's text so that no spreadsheet takes it for a formula.
func guardFormula(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r\n＝＋－＠", firstRune(text)) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}
