package cleantext

import (
	"strings"
	"unicode"
)

// The invisible characters that scripts and emoji are written with.
const (
	zeroWidthSpace    = '\u200b'
	nonJoiner         = '\u200c'
	joiner            = '\u200d'
	leftToRightMark   = '\u200e'
	rightToLeftMark   = '\u200f'
	arabicLetterMark  = '\u061c'
	textVariant       = '\ufe0e'
	emojiVariant      = '\ufe0f'
	blankBraille      = '\u2800'
	flag              = '\U0001f3f4'
	firstTag, lastTag = '\U000e0020', '\U000e007f'
	keycap            = '\u20e3'
	firstStandard     = '\ufe00' // of the variants of Chinese characters and signs
	firstIdeographic  = '\U000e0100'
)

// joiningScripts have letters that joiners connect, or keep apart.
var joiningScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Thaana, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam, unicode.Hanifi_Rohingya,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
	unicode.Sinhala, unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Balinese, unicode.Javanese,
}

// unspacedScripts separate no words, so that zero-width spaces say where lines may end.
var unspacedScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan}

// rightToLeft are the scripts that are written so.
var rightToLeft = []*unicode.RangeTable{
	unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic, unicode.Adlam, unicode.Hanifi_Rohingya,
}

// isPartOfWriting reports whether the invisible character at i is where ordinary text has
// it: a joiner within a word of a script that needs it or between emoji, a mark of direction
// beside text from right to left (which such a letter there could reorder as well), the
// selector of a variant after a character that has one.
func isPartOfWriting(text []rune, i int) bool {
	before, after := runeAt(text, i-1), runeAt(text, i+1)
	switch r := text[i]; r {
	case nonJoiner, joiner:
		if isPictograph(base(text, i)) && isPictograph(after) {
			return r == joiner
		}
		return before != joiner && before != nonJoiner && (unicode.In(before, joiningScripts...) || unicode.In(after, joiningScripts...))
	case leftToRightMark:
		return before != r && (findNear(text, i, -1, isRightToLeft) != 0 || findNear(text, i, 1, isRightToLeft) != 0)
	case rightToLeftMark, arabicLetterMark:
		return before != r && (isRightToLeft(findNear(text, i, -1, unicode.IsLetter)) || isRightToLeft(findNear(text, i, 1, unicode.IsLetter)))
	case textVariant, emojiVariant:
		return isPictograph(before) || strings.ContainsRune("‼⁉〰", before) || after == keycap && strings.ContainsRune("0123456789#*", before)
	case blankBraille:
		return isDots(findNear(text, i, -1, isNoBlank)) || isDots(findNear(text, i, 1, isNoBlank))
	case zeroWidthSpace:
		return before != r && unicode.In(before, unspacedScripts...) && unicode.In(after, unspacedScripts...)
	default:
		isVariant := r >= firstIdeographic && unicode.Is(unicode.Variation_Selector, r) || r >= firstStandard && r < firstStandard+3
		isMongolian := r >= '\u180b' && r <= '\u180f' && unicode.Is(unicode.Mongolian, before)
		return isVariant && unicode.Is(unicode.Han, before) || isMongolian
	}
}

func isRightToLeft(r rune) bool { return unicode.In(r, rightToLeft...) }

// isPictograph reports whether r may be an emoji, or a part of one.
func isPictograph(r rune) bool {
	isArrow := r >= '\u2190' && r <= '\u21ff'
	isTone := r >= '\U0001f3fb' && r <= '\U0001f3ff'
	return isArrow || isTone || unicode.Is(unicode.So, r) && !isBraille(r) && r != '\ufffc' && r != '\ufffd'
}

func isBraille(r rune) bool { return r >= blankBraille && r <= blankBraille+0xff }

func isNoBlank(r rune) bool { return r != blankBraille }

func isDots(r rune) bool { return isBraille(r) && r != blankBraille }

// base returns the character before i that a variant or a tone after it belongs to.
func base(text []rune, i int) rune {
	if before := runeAt(text, i-1); before != emojiVariant && before != keycap {
		return before
	}
	return runeAt(text, i-2)
}

// maxNear is how far findNear looks, in characters.
const maxNear = 64

// findNear returns the nearest character of a line in a direction that is wanted; 0 if there
// is none.
func findNear(text []rune, i, step int, wanted func(rune) bool) rune {
	for n := 1; n <= maxNear; n++ {
		r := runeAt(text, i+n*step)
		if r == 0 || r == '\n' {
			return 0
		}
		if wanted(r) {
			return r
		}
	}
	return 0
}

func runeAt(text []rune, i int) rune {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}

// subdivisions are the flags that emoji have tags for: England, Scotland and Wales.
var subdivisions = []string{"gbeng", "gbsct", "gbwls"}

// tagSequence returns how many characters the flag has that a text begins with; 0 if its
// tags are of none of the subdivisions.
func tagSequence(text []rune) int {
	for _, name := range subdivisions {
		n := 1 + len(name)
		if runeAt(text, n) != lastTag {
			continue
		}
		tags := strings.Map(func(r rune) rune { return r - firstTag + ' ' }, string(text[1:n]))
		if tags == name {
			return n + 1
		}
	}
	return 0
}
