package table

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/rawjson"
)

// RowsPerPage is how many rows a page has at most.
const RowsPerPage = 200

// maxPage is more than any table has pages.
const maxPage = 1 << 31

// A Query says which rows of a table are wanted, and in which order.
type Query struct {
	Text string // which one of a row's cells has to contain, in upper or lower case; empty for all rows
	// Sort is the column to sort by, from 1; 0 keeps the order of the table. Numbers precede
	// texts, and empty cells are last.
	Sort       int
	Descending bool
	Page       int // from 1; the last one if there are fewer
}

// A Page is a page of a table.
type Page struct {
	// Rows have a value for each of the first columns that were asked for: a string,
	// json.Number, bool, nil or json.RawMessage.
	Rows     [][]any
	Number   int // of the page, from 1
	Pages    int // at least 1
	Matching int // rows of all pages
	Total    int // rows of the table
}

// Read returns a page with the first columns of the table.
func (t *Table) Read(ctx context.Context, q Query, columns int) (Page, error) {
	p := Page{Number: min(max(q.Page, 1), maxPage)}
	var err error
	if q.Sort > 0 && q.Sort <= len(t.Columns) {
		err = t.readSorted(ctx, q, columns, &p)
	} else {
		err = t.readInOrder(ctx, q, columns, &p)
	}
	p.Pages = max(1, (p.Matching+RowsPerPage-1)/RowsPerPage)
	if err == nil && p.Number > p.Pages {
		q.Page = p.Pages
		return t.Read(ctx, q, columns)
	}
	return p, err
}

func (t *Table) readInOrder(ctx context.Context, q Query, columns int, p *Page) error {
	for row, err := range t.matching(ctx, q.Text, &p.Total) {
		if err != nil {
			return err
		}
		if p.Matching/RowsPerPage == p.Number-1 {
			p.Rows = append(p.Rows, t.decode(row.raw, columns))
		}
		p.Matching++
	}
	return nil
}

func (t *Table) readSorted(ctx context.Context, q Query, columns int, p *Page) error {
	places, err := t.sort(ctx, q, &p.Total)
	if err != nil {
		return err
	}
	p.Matching = len(places)
	first := min((p.Number-1)*RowsPerPage, len(places))
	for _, at := range places[first:min(first+RowsPerPage, len(places))] {
		raw, err := t.rowAt(at)
		if err != nil {
			return err
		}
		p.Rows = append(p.Rows, t.decode(raw, columns))
	}
	return nil
}

// matching returns the rows with a text, and counts all rows.
func (t *Table) matching(ctx context.Context, text string, total *int) iter.Seq2[rawRow, error] {
	return func(yield func(rawRow, error) bool) {
		wanted := strings.ToLower(text)
		var cells []json.RawMessage
		for row, err := range t.all(ctx) {
			if err != nil {
				yield(row, err)
				return
			}
			*total++
			if wanted != "" {
				cells = t.cells(row.raw, len(t.Columns), cells)
				if !slices.ContainsFunc(cells, func(c json.RawMessage) bool { return contains(c, wanted) }) {
					continue
				}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// contains reports whether the text of a cell contains a text in lower case.
func contains(cell json.RawMessage, wanted string) bool {
	return strings.Contains(strings.ToLower(cellText(cell)), wanted)
}

// maxKey is how much of a text rows are sorted by, in bytes.
const maxKey = 64

// A rowPlace is where a row is in the text.
type rowPlace struct {
	offset int64
	length int
}

// A sortKey is what a row is sorted by, and where the row is.
type sortKey struct {
	rowPlace
	class  keyClass
	number float64
	text   string // in lower case
}

type keyClass uint8

const (
	numberKey keyClass = iota
	textKey
	emptyKey
)

// sort returns where the rows that match are, in the order of a query.
func (t *Table) sort(ctx context.Context, q Query, total *int) ([]rowPlace, error) {
	var keys []sortKey
	var cells []json.RawMessage
	for row, err := range t.matching(ctx, q.Text, total) {
		if err != nil {
			return nil, err
		}
		if len(keys) == maxSorted {
			return nil, ErrTooLong
		}
		k := sortKey{rowPlace: rowPlace{row.offset, len(row.raw)}, class: emptyKey}
		if cells = t.cells(row.raw, q.Sort, cells); len(cells) == q.Sort {
			k.set(cells[q.Sort-1])
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		return cmp.Or(a.compare(&b, q.Descending), cmp.Compare(a.offset, b.offset))
	})
	places := make([]rowPlace, len(keys))
	for i := range keys {
		places[i] = keys[i].rowPlace
	}
	return places, nil
}

func (k *sortKey) compare(other *sortKey, descending bool) int {
	if k.class == emptyKey || other.class == emptyKey {
		return cmp.Compare(k.class, other.class)
	}
	order := cmp.Compare(k.class, other.class)
	switch {
	case order != 0:
	case k.class == numberKey:
		order = cmp.Compare(k.number, other.number)
	default:
		order = strings.Compare(k.text, other.text)
	}
	if descending {
		return -order
	}
	return order
}

// set sets what the key compares from a cell.
func (k *sortKey) set(cell json.RawMessage) {
	text := cellText(cell)
	if text == "" {
		return
	}
	if c := text[0]; c <= '9' { // a digit, a sign or a point
		if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(n, 0) {
			k.class, k.number = numberKey, n
			return
		}
	}
	k.class, k.text = textKey, strings.Clone(strings.ToLower(text[:min(len(text), maxKey)]))
}

// cellText returns a cell as text: a text itself, nothing for null and for no cell, and any
// other value as JSON.
func cellText(cell json.RawMessage) string {
	switch {
	case len(cell) == 0, string(cell) == "null":
		return ""
	case cell[0] == '"':
		text, _ := rawjson.DecodeText(cell)
		return text
	}
	return string(cell)
}

// decode returns the first cells of a row as values.
func (t *Table) decode(raw json.RawMessage, columns int) []any {
	row := make([]any, 0, columns)
	for _, cell := range t.cells(raw, columns, nil) {
		row = append(row, decodeCell(cell))
	}
	return row
}

func decodeCell(cell json.RawMessage) any {
	if len(cell) == 0 {
		return nil
	}
	switch c := cell[0]; {
	case c == '"':
		return cellText(cell)
	case c == '{' || c == '[':
		return json.RawMessage(slices.Clone(cell))
	case string(cell) == "null":
		return nil
	case string(cell) == "true" || string(cell) == "false":
		return cell[0] == 't'
	case json.Valid(cell):
		return json.Number(cell)
	}
	return string(cell)
}
