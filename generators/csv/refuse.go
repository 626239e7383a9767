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

// wanted is what every refusal ends with.
const wanted = "Wanted is text with a row of column names and below it a row for each record, the cells divided by commas, semicolons, tabs or |"

func errEmpty() error { return errors.New("the file is empty. " + wanted) }

func notCSV(what, remedy string) error {
	if remedy != "" {
		what += ". " + remedy
	}
	return fmt.Errorf("this is no CSV file but %s. %s", what, wanted)
}

// refuseBytes knows files of other kinds by how they begin.
func refuseBytes(head []byte) error {
	for _, k := range otherKinds() {
		if bytes.HasPrefix(head, []byte(k.begin)) {
			return notCSV(k.what, k.remedy)
		}
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil // UTF-16, where half of the bytes may be zero
	}
	if zeros := bytes.Count(head, []byte{0}); zeros*3 > len(head) && zeros*3 < len(head)*2 {
		return notCSV("text in UTF-16 without a byte order mark, or binary", "Save it as UTF-8")
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

// refuseText knows by its characters what is no text, and by its first ones
// what is a text of another kind.
func refuseText(text string, whole bool) error {
	control := 0
	for _, r := range text {
		switch {
		case r == 0:
			return notCSV("binary data", "")
		case r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1a", r), r == 0x7f, r >= 0x80 && r < 0xa0:
			control++
		}
	}
	if control*20 > utf8.RuneCountInString(text) {
		return notCSV("binary data", "")
	}
	if strings.Trim(text, ",;|\" \t\r\n") == "" {
		return errEmpty()
	}
	trimmed := strings.TrimSpace(text)
	if looksLikeJSON(trimmed, whole) {
		return notCSV("JSON", "Convert its records to rows first")
	}
	if regexp.MustCompile(`^<(\?xml|!doctype|!--|[A-Za-z][\w:.-]*[\s/>])`).MatchString(lowerHead(trimmed)) {
		return notCSV("XML or HTML", "Export the table in it as CSV")
	}
	return nil
}

func looksLikeJSON(text string, whole bool) bool {
	if regexp.MustCompile(`^(\{\s*["}]|\[\s*[\]\[{"])`).MatchString(text) {
		return true
	}
	return whole && strings.HasPrefix(text, "[") && json.Valid([]byte(text))
}

func lowerHead(text string) string { return strings.ToLower(text[:min(len(text), 100)]) }

// refuseProse knows running text and logs: many words in a cell, few numbers,
// no quotes, and no delimiter that divides all lines alike.
func (g guess) refuseProse() error {
	if g.quoted {
		return nil
	}
	var cells, words, letters, numbers, sentences int
	for _, record := range g.records {
		for _, cell := range record {
			cell = strings.TrimSpace(cell)
			if cell == "" {
				continue
			}
			cells++
			words += len(strings.Fields(cell))
			letters += utf8.RuneCountInString(cell)
			if cell[0] >= '0' && cell[0] <= '9' && !strings.Contains(cell, " ") {
				numbers++
			}
		}
		if strings.ContainsAny(lastRune(record), ".!?。！？") {
			sentences++
		}
	}
	if g.cells > 1 && numbers*10 >= cells {
		return nil
	}
	perCell, full := float64(words)/float64(max(1, cells)), 2*sentences >= len(g.records)
	long := letters >= 60*cells
	switch {
	case g.cells == 1 && (perCell >= 5 || long || full && (perCell >= 3 || letters >= 20*cells)):
	case g.cells > 1 && perCell >= 3 && full:
	case g.cells > 1 && perCell >= 3 && g.share < 0.8:
	default:
		return nil
	}
	return notCSV("running text: no comma, semicolon, tab or | divides its lines in the same way", "")
}

func lastRune(record []string) string {
	last := strings.TrimSpace(record[len(record)-1])
	_, size := utf8.DecodeLastRuneInString(last)
	return last[len(last)-size:]
}
