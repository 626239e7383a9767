package csv

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// A charset is a character encoding.
type charset struct {
	Name    string // for people
	Note    string // a warning for people, or ""
	BOM     int    // length of the byte order mark, in bytes
	Decoder decoder
}

// A decoder is a way to decode text to UTF-8.
type decoder int

const (
	utf8Only decoder = iota // fails if the text isn't valid
	utf8Repairing
	utf16LittleEndian
	utf16BigEndian
	windows1252
)

func (d decoder) newTransformer() transform.Transformer {
	switch d {
	case utf8Repairing:
		return runes.ReplaceIllFormed()
	case utf16LittleEndian:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case utf16BigEndian:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	case windows1252:
		return charmap.Windows1252.NewDecoder()
	}
	return encoding.UTF8Validator
}

// detectCharset detects the encoding of a file from its beginning. Text that isn't
// valid UTF-8 is assumed to be Windows-1252, which Western spreadsheets write,
// unless most of its non-ASCII characters are valid UTF-8.
func detectCharset(head []byte, whole bool) charset {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return charset{Name: "UTF-8 with a byte order mark", BOM: 3}
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return charset{Name: "UTF-16 (little-endian)", BOM: 2, Decoder: utf16LittleEndian}
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return charset{Name: "UTF-16 (big-endian)", BOM: 2, Decoder: utf16BigEndian}
	}
	good, bad := countUTF8(head, whole)
	switch {
	case bad == 0:
		return charset{Name: "UTF-8"}
	case good > bad:
		return withReplacement(charset{Name: "UTF-8"})
	}
	return newWindows1252()
}

// fallback returns the charset to use instead of c for a file that begins as valid
// UTF-8 but isn't valid to its end.
func (c charset) fallback(head []byte) charset {
	if good, _ := countUTF8(head, false); good > 0 || c.BOM > 0 {
		return withReplacement(c)
	}
	return newWindows1252()
}

func newWindows1252() charset {
	return charset{
		Name:    "Windows-1252",
		Note:    "The file is not in UTF-8 and is read as Windows-1252. If letters look wrong, save it as UTF-8.",
		Decoder: windows1252,
	}
}

func withReplacement(c charset) charset {
	c.Note = "Some characters of the file are not valid UTF-8 and are shown as \uFFFD. To fix them, try saving the file as UTF-8 again."
	c.Decoder = utf8Repairing
	return c
}

// countUTF8 counts the valid non-ASCII characters and the invalid bytes of a text.
// An incomplete character at the end is ignored unless the text is the whole file.
func countUTF8(text []byte, whole bool) (good, bad int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			if !whole && !utf8.FullRune(text) {
				return good, bad
			}
			bad++
		case size > 1:
			good++
		}
		text = text[size:]
	}
	return good, bad
}
