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
	noHeader  bool // the first record is data, not names
	numbers   numberFormat
}

// detectLayout learns a file's layout from its beginning. The error says what the file
// is, if it is no CSV file.
func detectLayout(head []byte, whole bool) (layout, error) {
	if err := rejectOtherFormats(head); err != nil {
		return layout{}, err
	}
	l := layout{charset: detectCharset(head, whole)}
	text := l.decodeSample(head, whole)
	if err := rejectNonCSVText(text, whole); err != nil {
		return l, err
	}
	best := l.detectDelimiter(text)
	if len(best.records) == 0 { // the delimiter was told, and there are only delimiters
		return l, emptyFileError()
	}
	if err := best.rejectProse(); err != nil {
		return l, err
	}
	l.delimiter, l.cells = best.delimiter, max(best.cells, len(best.records[0]))
	l.numbers = detectNumberFormat(best.delimiter, best.records)
	l.noHeader = len(best.records) > 1 && l.numbers.allNumbers(best.records[0])
	return l, nil
}

// decodeSample decodes the sample up to its last whole line and takes note of its line
// ends and of a line such as "sep=;" before the rest.
func (l *layout) decodeSample(head []byte, whole bool) string {
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
	if line, _, found := strings.Cut(text, "\n"); found && parseSepLine(line) != 0 {
		l.delimiter, l.preamble = parseSepLine(line), len(line)+1
	}
	return text[l.preamble:]
}

// parseSepLine reads Excel's "sep=;"; 0 if the line is none.
func parseSepLine(line string) rune {
	name, value, _ := strings.Cut(strings.TrimRight(line, "\r"), "=")
	if strings.EqualFold(name, "sep") && len(value) == 1 && strings.Contains(",;\t|", value) {
		return rune(value[0])
	}
	return 0
}

// A dialect is what a text looks like if a delimiter divides its cells.
type dialect struct {
	delimiter      rune
	records        [][]string
	cells          int     // in most records
	sameWidthShare float64 // of the records that have so many
	hasQuotes      bool    // some cell stands in quotes
}

// detectDelimiter tries every delimiter and returns the one that fits best.
func (l layout) detectDelimiter(text string) dialect {
	if l.delimiter != 0 {
		return parseSample(text, l.delimiter)
	}
	best := parseSample(text, ',')
	for _, delimiter := range ";\t|" {
		if g := parseSample(text, delimiter); g.isBetterThan(best) {
			best = g
		}
	}
	return best
}

func parseSample(text string, delimiter rune) dialect {
	g := dialect{delimiter: delimiter}
	g.hasQuotes = strings.HasPrefix(text, `"`) || strings.Contains(text, "\n\"") || strings.Contains(text, string(delimiter)+`"`)
	r := newRecordReader(strings.NewReader(text), delimiter)
	r.csv.ReuseRecord = false
	frequency := map[int]int{}
	for len(g.records) < sampleRecords {
		record, err := r.next()
		if err != nil {
			if err != io.EOF && len(g.records) == 0 { // a quote that isn't closed within the sample
				g.records, g.cells, g.sameWidthShare = [][]string{{text[:min(len(text), 100)]}}, 1, 1
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
	g.sameWidthShare = float64(frequency[g.cells]) / float64(max(1, len(g.records)))
	return g
}

// isBetterThan compares by what tells most: that there are columns at all, that the
// row of names has as many as the rest, that the records are alike, and last
// how many columns there are.
func (g dialect) isBetterThan(than dialect) bool {
	if a, b := g.cells > 1, than.cells > 1; a != b {
		return a
	}
	if a, b := g.hasFullHeader(), than.hasFullHeader(); a != b {
		return a
	}
	if g.sameWidthShare != than.sameWidthShare {
		return g.sameWidthShare > than.sameWidthShare
	}
	return g.cells > than.cells
}

func (g dialect) hasFullHeader() bool { return len(g.records) > 0 && len(g.records[0]) == g.cells }
