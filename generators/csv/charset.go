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
	name string // for people
	note string // a warning for people, or ""
	bom  int    // length of the byte order mark, in bytes
	// decoder returns a new transformer from the encoding to UTF-8.
	decoder func() transform.Transformer
}

// detectCharset detects the encoding of a file from its beginning. Text that isn't
// valid UTF-8 is assumed to be Windows-1252, which Western spreadsheets write,
// unless most of its non-ASCII characters are valid UTF-8.
func detectCharset(head []byte, whole bool) charset {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return charset{name: "UTF-8 with a byte order mark", bom: 3, decoder: newUTF8Validator}
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return utf16("UTF-16 (little-endian)", unicode.LittleEndian)
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return utf16("UTF-16 (big-endian)", unicode.BigEndian)
	}
	good, bad := countUTF8(head, whole)
	switch {
	case bad == 0:
		return charset{name: "UTF-8", decoder: newUTF8Validator}
	case good > bad:
		return withReplacement(charset{name: "UTF-8"})
	}
	return windows1252()
}

// fallback returns the charset to use instead of c for a file that begins as valid
// UTF-8 but isn't valid to its end.
func (c charset) fallback(head []byte) charset {
	if good, _ := countUTF8(head, false); good > 0 || c.bom > 0 {
		return withReplacement(c)
	}
	return windows1252()
}

func newUTF8Validator() transform.Transformer { return encoding.UTF8Validator }

func utf16(name string, order unicode.Endianness) charset {
	return charset{name: name, bom: 2, decoder: func() transform.Transformer {
		return unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()
	}}
}

func windows1252() charset {
	return charset{
		name:    "Windows-1252",
		note:    "The file is not in UTF-8 and is read as Windows-1252. If letters look wrong, save it as UTF-8.",
		decoder: func() transform.Transformer { return charmap.Windows1252.NewDecoder() },
	}
}

func withReplacement(c charset) charset {
	c.note = "Some characters of the file are not valid UTF-8 and are shown as \uFFFD. To fix them, try saving the file as UTF-8 again."
	c.decoder = func() transform.Transformer { return runes.ReplaceIllFormed() }
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
