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

// expectedFormat is what every refusal ends with.
const expectedFormat = "Expected is text with a row of column names, followed by one row per record, with cells separated by commas, semicolons, tabs or |"

func emptyFileError() error { return errors.New("the file is empty. " + expectedFormat) }

func notCSVError(what, remedy string) error {
	if remedy != "" {
		what += ". " + remedy
	}
	return fmt.Errorf("this is not a CSV file but %s. %s", what, expectedFormat)
}

// rejectOtherFormats knows files of other kinds by how they begin.
func rejectOtherFormats(head []byte) error {
	for _, k := range otherKinds() {
		if bytes.HasPrefix(head, []byte(k.begin)) {
			return notCSVError(k.what, k.remedy)
		}
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil // UTF-16, where half of the bytes may be zero
	}
	if zeros := bytes.Count(head, []byte{0}); zeros*3 > len(head) && zeros*3 < len(head)*2 {
		return notCSVError("text in UTF-16 without a byte order mark, or binary", "Save it as UTF-8")
	}
	return nil
}

type otherKind struct{ begin, what, remedy string }

func otherKinds() []otherKind {
	return []otherKind{
		{"\x89PNG\r\n", "a PNG image", ""},
		{"\xff\xd8\xff", "a JPEG image", ""},
		{"GIF8", "a GIF image", ""},
		{"%PDF-", "a PDF document", "Export the table in it as CSV"},
		{"PK\x03\x04", "a ZIP archive, such as an Excel workbook (.xlsx)", "Save the sheet as CSV"},
		{"\xd0\xcf\x11\xe0", "an old Excel or Word document", "Save the sheet as CSV"},
		{"{\\rtf", "a rich text document", "Save the table as CSV"},
		{"\x1f\x8b", "a file compressed by gzip", "Decompress it first"},
		{"BZh", "a file compressed by bzip2", "Decompress it first"},
		{"\x28\xb5\x2f\xfd", "a file compressed by zstd", "Decompress it first"},
		{"PAR1", "a Parquet file", "Convert it to CSV"},
		{"SQLite format 3\x00", "an SQLite database", "Export a table as CSV"},
		{"\xff\xfe\x00\x00", "text in UTF-32", "Save it as UTF-8"},
		{"\x00\x00\xfe\xff", "text in UTF-32", "Save it as UTF-8"},
	}
}

// rejectNonCSVText knows by its characters what is no text, and by its first ones
// what is a text of another kind.
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

// rejectProse knows running text and logs: many words in a cell, few numbers,
// no quotes, and no delimiter that divides all lines alike.
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
	return notCSVError("plain text: no comma, semicolon, tab or | separates its lines consistently", "")
}

// proseCounts counts what tells prose from a table.
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
