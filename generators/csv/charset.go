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

// A charset is how a file's bytes become text.
type charset struct {
	name string // as people know it
	note string // what a person should know about it; may be empty
	bom  int    // bytes of a byte order mark before the text
	// decoder makes UTF-8 of the bytes; nil if they are UTF-8.
	decoder func() transform.Transformer
}

// detectCharset tells how a file is encoded by its beginning. What is no UTF-8 is
// taken for Windows-1252, which is what spreadsheets in the West write, unless
// most of what isn't ASCII is UTF-8 nevertheless.
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

// fallback is what a file is taken for whose beginning is UTF-8 and whose rest
// is not.
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
	c.note = "Some characters of the file are not UTF-8 and are shown as \uFFFD. Saving it as UTF-8 anew may bring them back."
	c.decoder = func() transform.Transformer { return runes.ReplaceIllFormed() }
	return c
}

// countUTF8 counts the characters beyond ASCII that are UTF-8 and the bytes that
// are not. A character that is cut off at the end counts only in a whole file.
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
