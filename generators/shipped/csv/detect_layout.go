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
	Charset   charset
	BareCR    bool // lines end with a carriage return alone
	Preamble  int  // length of Excel's "sep=;" line before the first record, in bytes
	Delimiter rune
	Cells     int  // in most records of the sample, or in the first if it has more
	NoHeader  bool // the first record has data, not column names
}

// detectLayout detects a file's layout from its beginning. If the file isn't a CSV
// file, the error says what it appears to be.
func detectLayout(head []byte, whole bool) (layout, error) {
	if err := rejectOtherFormats(head); err != nil {
		return layout{}, err
	}
	l := layout{Charset: detectCharset(head, whole)}
	text := l.decodeSample(head, whole)
	if err := rejectNonCSVText(text, whole); err != nil {
		return l, err
	}
	best := l.detectDelimiter(text, whole)
	if len(best.records) == 0 { // a sep line gives the delimiter, and nothing but delimiters follows
		return l, emptyFileError()
	}
	if err := best.rejectProse(); err != nil {
		return l, err
	}
	l.Delimiter, l.Cells = best.delimiter, max(best.cells, len(best.records[0]))
	l.NoHeader = len(best.records) > 1 && !slices.ContainsFunc(best.records[0], isNoNumber)
	return l, nil
}

// decodeSample decodes the sample up to its last complete line. It sets the layout's
// line ends and, if the text begins with a line such as "sep=;", its delimiter.
func (l *layout) decodeSample(head []byte, whole bool) string {
	raw := head[min(l.Charset.BOM, len(head)):]
	text := string(raw)
	if decoded, _, err := transform.Bytes(l.Charset.Decoder.newTransformer(), raw); err == nil {
		text = string(decoded)
	} // otherwise the sample is UTF-8 and ends within a character
	if l.BareCR = strings.Contains(text, "\r") && !strings.Contains(text, "\n"); l.BareCR {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	if end := strings.LastIndexByte(text, '\n'); !whole && end >= 0 {
		text = text[:end+1]
	}
	if line, _, found := strings.Cut(text, "\n"); found && parseSepLine(line) != 0 {
		l.Delimiter, l.Preamble = parseSepLine(line), len(line)+1
	}
	return text[l.Preamble:]
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
func (l layout) detectDelimiter(text string, whole bool) dialect {
	if l.Delimiter != 0 {
		return parseSample(text, l.Delimiter, whole)
	}
	best := parseSample(text, ',', whole)
	for _, delimiter := range ";\t|" {
		if g := parseSample(text, delimiter, whole); g.isBetterThan(best) {
			best = g
		}
	}
	return best
}

func parseSample(text string, delimiter rune, whole bool) dialect {
	g := dialect{delimiter: delimiter}
	g.hasQuotes = strings.HasPrefix(text, `"`) || strings.Contains(text, "\n\"") || strings.Contains(text, string(delimiter)+`"`)
	r := newRecordReader(strings.NewReader(text), delimiter)
	r.partial = !whole
	frequency := map[int]int{}
	for len(g.records) < sampleRecords {
		record, err := r.next(nil)
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
