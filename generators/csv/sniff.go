package csv

import (
	"io"
	"strings"

	"golang.org/x/text/transform"
)

const (
	// sampleSize is how much of a file is looked at to learn how to read it, in
	// bytes, and sampleRecords how many records of that.
	sampleSize    = 256 << 10
	sampleRecords = 200
)

// A layout is how a file is to be read.
type layout struct {
	charset   charset
	bareCR    bool // lines end in a carriage return alone
	preamble  int  // bytes of text before the first record: Excel's "sep=;"
	delimiter rune
	cells     int  // in most records at the beginning, or in the first if it has more
	nameless  bool // the first record is data, not names
	figures   figures
}

// sniff learns a file's layout from its beginning. The error says what the file
// is, if it is no CSV file.
func sniff(head []byte, whole bool) (layout, error) {
	if err := refuseBytes(head); err != nil {
		return layout{}, err
	}
	l := layout{charset: charsetOf(head, whole)}
	text := l.text(head, whole)
	if err := refuseText(text, whole); err != nil {
		return l, err
	}
	best := l.guess(text)
	if len(best.records) == 0 { // the delimiter was told, and there are only delimiters
		return l, errEmpty()
	}
	if err := best.refuseProse(); err != nil {
		return l, err
	}
	l.delimiter, l.cells = best.delimiter, max(best.cells, len(best.records[0]))
	l.figures = figuresOf(best.delimiter, best.records)
	l.nameless = len(best.records) > 1 && l.figures.all(best.records[0])
	return l, nil
}

// text decodes the sample up to its last whole line and takes note of its line
// ends and of a line such as "sep=;" before the rest.
func (l *layout) text(head []byte, whole bool) string {
	raw := head[min(l.charset.bom, len(head)):]
	text := string(raw)
	if l.charset.decoder != nil {
		if decoded, _, err := transform.Bytes(l.charset.decoder(), raw); err == nil {
			text = string(decoded)
		} // or else the sample ends within a character, and is UTF-8
	}
	if l.bareCR = strings.Contains(text, "\r") && !strings.Contains(text, "\n"); l.bareCR {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	if end := strings.LastIndexByte(text, '\n'); !whole && end >= 0 {
		text = text[:end+1]
	}
	if line, _, found := strings.Cut(text, "\n"); found && separator(line) != 0 {
		l.delimiter, l.preamble = separator(line), len(line)+1
	}
	return text[l.preamble:]
}

// separator reads Excel's "sep=;"; 0 if the line is none.
func separator(line string) rune {
	name, value, _ := strings.Cut(strings.TrimRight(line, "\r"), "=")
	if strings.EqualFold(name, "sep") && len(value) == 1 && strings.Contains(",;\t|", value) {
		return rune(value[0])
	}
	return 0
}

// A guess is what a text looks like if a delimiter divides its cells.
type guess struct {
	delimiter rune
	records   [][]string
	cells     int     // in most records
	share     float64 // of the records that have so many
	quoted    bool    // some cell stands in quotes
}

// guess tries every delimiter and returns the one that fits best.
func (l layout) guess(text string) guess {
	if l.delimiter != 0 {
		return try(text, l.delimiter)
	}
	best := try(text, ',')
	for _, delimiter := range ";\t|" {
		if g := try(text, delimiter); g.better(best) {
			best = g
		}
	}
	return best
}

func try(text string, delimiter rune) guess {
	g := guess{delimiter: delimiter}
	g.quoted = strings.HasPrefix(text, `"`) || strings.Contains(text, "\n\"") || strings.Contains(text, string(delimiter)+`"`)
	r := newRecords(strings.NewReader(text), delimiter)
	r.csv.ReuseRecord = false
	frequency := map[int]int{}
	for len(g.records) < sampleRecords {
		record, err := r.next()
		if err != nil {
			if err != io.EOF && len(g.records) == 0 { // a quote that isn't closed within the sample
				g.records, g.cells, g.share = [][]string{{text[:min(len(text), 100)]}}, 1, 1
				return g
			}
			break
		}
		g.records = append(g.records, record)
		n := len(record)
		if frequency[n]++; frequency[n] > frequency[g.cells] || frequency[n] == frequency[g.cells] && n > g.cells {
			g.cells = n
		}
	}
	g.share = float64(frequency[g.cells]) / float64(max(1, len(g.records)))
	return g
}

// better compares by what tells most: that there are columns at all, that the
// row of names has as many as the rest, that the records are alike, and last
// how many columns there are.
func (g guess) better(than guess) bool {
	if a, b := g.cells > 1, than.cells > 1; a != b {
		return a
	}
	if a, b := g.named(), than.named(); a != b {
		return a
	}
	if g.share != than.share {
		return g.share > than.share
	}
	return g.cells > than.cells
}

func (g guess) named() bool { return len(g.records) > 0 && len(g.records[0]) == g.cells }
