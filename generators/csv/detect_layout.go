package csv

import (
	"io"
	"slices"
	"strings"

	"golang.org/x/text/transform"
)

const (
	sampleSize    = 256 << 10 // bytes from which the layout is detected
	sampleRecords = 200       // records of them that are parsed
)

// A layout describes how to read a file.
type layout struct {
	charset   charset
	bareCR    bool // lines end with a carriage return alone
	preamble  int  // length of Excel's "sep=;" line before the first record, in bytes
	delimiter rune
	cells     int  // in most records of the sample, or in the first if it has more
	noHeader  bool // the first record has data, not column names
}

// detectLayout detects a file's layout from its beginning. If the file isn't a CSV
// file, the error says what it appears to be.
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
	if len(best.records) == 0 { // a sep line gives the delimiter, and nothing but delimiters follows
		return l, emptyFileError()
	}
	if err := best.rejectProse(); err != nil {
		return l, err
	}
	l.delimiter, l.cells = best.delimiter, max(best.cells, len(best.records[0]))
	l.noHeader = len(best.records) > 1 && !slices.ContainsFunc(best.records[0], isNoNumber)
	return l, nil
}

// decodeSample decodes the sample up to its last complete line. It sets the layout's
// line ends and, if the text begins with a line such as "sep=;", its delimiter.
func (l *layout) decodeSample(head []byte, whole bool) string {
	raw := head[min(l.charset.bom, len(head)):]
	text := string(raw)
	if l.charset.decoder != nil {
		if decoded, _, err := transform.Bytes(l.charset.decoder(), raw); err == nil {
			text = string(decoded)
		} // otherwise the sample is UTF-8 and ends within a character
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

// parseSepLine returns the delimiter that a line such as "sep=;" sets, as Excel
// writes it, or 0 for any other line.
func parseSepLine(line string) rune {
	name, value, _ := strings.Cut(strings.TrimRight(line, "\r"), "=")
	if strings.EqualFold(name, "sep") && len(value) == 1 && strings.Contains(",;\t|", value) {
		return rune(value[0])
	}
	return 0
}

// A dialect is the sample as parsed with one delimiter.
type dialect struct {
	delimiter      rune
	records        [][]string
	cells          int     // in most records
	sameWidthShare float64 // share of the records that have that many
	hasQuotes      bool    // some cell is quoted
}

// detectDelimiter parses the sample with each delimiter and returns the best result.
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
			if err != io.EOF && len(g.records) == 0 { // a quote isn't closed within the sample
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

// isBetterThan compares two results by, in this order: whether there are several
// columns, whether the first record has as many cells as most others, the share of
// records with the same number of cells, and the number of columns.
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
