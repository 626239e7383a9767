package render

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Styles adds colors to text if it is true.
type Styles bool

// SGR parameters (ECMA-48): the terminal's own colors fit its background.
const (
	Bold    = "1"
	Faint   = "2"
	Italic  = "3"
	Under   = "4"
	Red     = "31"
	Green   = "32"
	Yellow  = "33"
	Blue    = "34"
	Magenta = "35"
	Cyan    = "36"
)

// Paint returns a text, whose lines are painted one by one, in a style.
func (s Styles) Paint(style, text string) string {
	if !s || text == "" || style == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Indent puts a prefix before each line.
func Indent(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}

// Wrap breaks lines at words.
func Wrap(text string, width int) string { return ansi.Wrap(text, max(width, 1), "") }

// eighths are blocks of one to eight eighths of a column.
var eighths = []rune("▏▎▍▌▋▊▉█")

// Bar returns a bar of a length in columns, to an eighth.
func Bar(length float64) string {
	n := int(math.Round(length * 8))
	bar := strings.Repeat("█", n/8)
	if n%8 > 0 {
		bar += string(eighths[n%8-1])
	}
	return bar
}
