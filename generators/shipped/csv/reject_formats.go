package csv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// expectedFormat ends the error for every file that isn't a CSV file.
const expectedFormat = "A CSV file is text: a row of column names, then one row per record, with cells separated by commas, semicolons, tabs or |"

func emptyFileError() error { return errors.New("the file is empty. " + expectedFormat) }

// notCSVError returns the error for a file that is something else. advice is a
// sentence about what to do, or "".
func notCSVError(what, advice string) error {
	if advice != "" {
		advice += ". "
	}
	return fmt.Errorf("this is %s, not a CSV file. %s%s", what, advice, expectedFormat)
}

// rejectOtherFormats returns an error for files of other formats, which it recognizes
// by their first bytes.
func rejectOtherFormats(head []byte) error {
	for _, k := range otherKinds() {
		if bytes.HasPrefix(head, []byte(k.begin)) {
			return notCSVError(k.what, k.advice)
		}
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil // UTF-16, where half of the bytes may be zero
	}
	if zeros := bytes.Count(head, []byte{0}); zeros*3 > len(head) && zeros*3 < len(head)*2 {
		return notCSVError("UTF-16 text without a byte order mark, or binary data", "Save it as UTF-8")
	}
	return nil
}

type otherKind struct{ begin, what, advice string }

func otherKinds() []otherKind {
	return []otherKind{
		{"\x89PNG\r\n", "a PNG image", ""},
		{"\xff\xd8\xff", "a JPEG image", ""},
		{"GIF8", "a GIF image", ""},
		{"%PDF-", "a PDF document", "Export the table in it as CSV"},
		{"PK\x03\x04", "a ZIP archive, such as an Excel workbook (.xlsx)", "Save the sheet as CSV"},
		{"\xd0\xcf\x11\xe0", "an old Excel or Word document", "Save the sheet as CSV"},
		{"{\\rtf", "a rich text document", "Save the table as CSV"},
		{"\x1f\x8b", "a file compressed with gzip", "Decompress it first"},
		{"BZh", "a file compressed with bzip2", "Decompress it first"},
		{"\x28\xb5\x2f\xfd", "a file compressed with zstd", "Decompress it first"},
		{"PAR1", "a Parquet file", "Convert it to CSV"},
		{"SQLite format 3\x00", "an SQLite database", "Export a table as CSV"},
		{"\xff\xfe\x00\x00", "UTF-32 text", "Save it as UTF-8"},
		{"\x00\x00\xfe\xff", "UTF-32 text", "Save it as UTF-8"},
	}
}

// rejectNonCSVText returns an error for binary data, which it recognizes by its
// control characters, and for empty, JSON, XML and HTML files.
func rejectNonCSVText(text string, whole bool) error {
	control := 0
	for _, r := range text {
		switch {
		case r == 0:
			return notCSVError("binary data", "")
		case r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1a", r), r == 0x7f, r >= 0x80 && r < 0xa0:
			control++
		}
	}
	if control*20 > utf8.RuneCountInString(text) {
		return notCSVError("binary data", "")
	}
	if strings.Trim(text, ",;|\" \t\r\n") == "" {
		return emptyFileError()
	}
	trimmed := strings.TrimSpace(text)
	if looksLikeJSON(trimmed, whole) {
		return notCSVError("JSON", "Convert its records to rows first")
	}
	if regexp.MustCompile(`^<(\?xml|!doctype|!--|[A-Za-z][\w:.-]*[\s/>])`).MatchString(lowercasePrefix(trimmed)) {
		return notCSVError("XML or HTML", "Export the table in it as CSV")
	}
	return nil
}

func looksLikeJSON(text string, whole bool) bool {
	if regexp.MustCompile(`^(\{\s*["}]|\[\s*[\]\[{"])`).MatchString(text) {
		return true
	}
	return whole && strings.HasPrefix(text, "[") && json.Valid([]byte(text))
}

func lowercasePrefix(text string) string { return strings.ToLower(text[:min(len(text), 100)]) }

// rejectProse returns an error for prose and program logs: their cells have many
// words, few are numbers, none is quoted, and lines have different numbers of cells.
func (g dialect) rejectProse() error {
	p := g.countProse()
	if g.hasQuotes || g.cells > 1 && p.numbers*10 >= p.cells {
		return nil
	}
	wordy := p.words >= 3*p.cells
	sentences := 2*p.sentences >= len(g.records)
	prose := wordy && (sentences || g.sameWidthShare < 0.8)
	if g.cells == 1 {
		prose = p.words >= 5*p.cells || p.letters >= 60*p.cells || sentences && (wordy || p.letters >= 20*p.cells)
	}
	if !prose {
		return nil
	}
	return notCSVError("plain text", "Its lines aren't consistently separated by commas, semicolons, tabs or |")
}

// proseCounts has the numbers by which rejectProse distinguishes prose from a table.
type proseCounts struct{ cells, words, letters, numbers, sentences int }

func (g dialect) countProse() (p proseCounts) {
	for _, record := range g.records {
		for _, cell := range record {
			cell = strings.TrimSpace(cell)
			if cell == "" {
				continue
			}
			p.cells++
			words := len(strings.Fields(cell))
			p.words += words
			p.letters += utf8.RuneCountInString(cell)
			if words == 1 && isDigit(cell[0]) {
				p.numbers++
			}
		}
		if strings.ContainsAny(lastRune(record), ".!?。！？") {
			p.sentences++
		}
	}
	return p
}

func lastRune(record []string) string {
	last := strings.TrimSpace(record[len(record)-1])
	_, size := utf8.DecodeLastRuneInString(last)
	return last[len(last)-size:]
}
