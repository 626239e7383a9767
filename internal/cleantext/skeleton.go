package cleantext

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Skeleton returns text as it looks, for a comparison with words of the Latin alphabet: in
// lower case, without accents and what is invisible, and with Latin letters in place of those
// of other alphabets that look like them (as in Unicode Technical Standard 39, for the letters
// of words that people read). Other letters stay.
func Skeleton(text string) string {
	visible := strings.Map(func(r rune) rune {
		switch {
		case isInvisible(r), unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsControl(r):
			return ' '
		}
		r = unicode.ToLower(r)
		if latin, ok := lookAlikes[r]; ok {
			return latin
		}
		return r
	}, norm.NFKD.String(strings.ToValidUTF8(strings.ToLower(text), "")))
	return norm.NFC.String(visible)
}

// lookAlikes are letters that look like a Latin one in most fonts.
var lookAlikes = makeLookAlikes(
	"a", "аαɑᴀ", "b", "вƅʙᏼ", "c", "сϲᴄ", "d", "ԁđᴅɗ", "e", "еεєᴇ", "f", "ƒ", "g", "ɡɢց", "h", "һհнʜ", "i", "іιıɩӏɪ",
	"j", "јϳᴊ", "k", "кκᴋ", "l", "łʟ", "m", "мᴍ", "n", "ոηɴ", "o", "оοօøσᴏ", "p", "рρᴘ", "q", "ԛզ", "r", "гʀɾ", "s", "ѕꜱʂ",
	"t", "тτᴛ", "u", "υսᴜ", "v", "νѵᴠ", "w", "ѡԝωᴡ", "x", "хχ", "y", "уγүʏ", "z", "ᴢʐ",
)

func makeLookAlikes(pairs ...string) map[rune]rune {
	all := make(map[rune]rune)
	for i := 0; i < len(pairs); i += 2 {
		for _, r := range pairs[i+1] {
			all[r] = rune(pairs[i][0])
		}
	}
	return all
}
