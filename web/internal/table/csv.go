package table

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode"
)

// WriteDelimited writes the rows that a query wants, of all pages, as comma-separated values
// (RFC 4180, with lines that end in \n), or separated by tabs. Spreadsheets take a cell that
// begins with =, +, -, @ or a character that isn't seen, such as a tab or a byte order mark,
// for a formula, which may send the table elsewhere: unless it is a number, such a cell gets
// an apostrophe in front, which spreadsheets take for the mark of a text.
//
// It writes nothing before it has sorted the rows, for which it needs most of its memory.
func (t *Table) WriteDelimited(ctx context.Context, w io.Writer, q Query, separator rune) error {
	rows, err := t.rowsOf(ctx, q)
	if err != nil {
		return err
	}
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
	for row, err := range rows {
		if err != nil {
			return err
		}
		cells = t.cells(row.raw, len(record), cells)
		for i := range record {
			record[i] = ""
			if i < len(cells) {
				record[i] = guardFormula(cellText(cells[i]))
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// rowsOf returns all rows that a query wants, in its order.
func (t *Table) rowsOf(ctx context.Context, q Query) (iter.Seq2[rawRow, error], error) {
	total := 0
	if q.Sort <= 0 || q.Sort > len(t.Columns) {
		return t.matching(ctx, q.Text, &total), nil
	}
	places, err := t.sort(ctx, q, &total)
	return func(yield func(rawRow, error) bool) {
		for n, at := range places {
			if n%rowsPerCheck == 0 && ctx.Err() != nil {
				yield(rawRow{}, context.Cause(ctx))
				return
			}
			raw, err := t.rowAt(at)
			if !yield(rawRow{raw, at.offset}, err) || err != nil {
				return
			}
		}
	}, err
}

// guardFormula returns a cell's text so that no spreadsheet takes it for a formula.
func guardFormula(text string) string {
	seen := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) })
	if len(seen) == len(text) && !strings.ContainsRune("=+-@＝＋－＠", firstRune(text)) {
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
