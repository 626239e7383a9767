package form

import (
	"encoding/json"
	"strconv"
	"strings"
)

// SyntaxError says what is wrong with the text of arguments, and in which line; empty if
// they are JSON.
func SyntaxError(text string) string { return syntaxError(text) }

func lineAt(text string, offset int) string {
	return strconv.Itoa(1 + strings.Count(text[:min(max(offset, 0), len(text))], "\n"))
}

// Lines returns the lines, from 1, at which the values at JSON Pointers begin in a JSON
// text. A pointer to nothing has the line of what would contain it.
func Lines(text string, pointers []string) map[string]int {
	wanted := make(map[string]bool, len(pointers))
	for _, p := range pointers {
		wanted[p] = true
	}
	w := lineWalker{text: text, dec: json.NewDecoder(strings.NewReader(text)), wanted: wanted, found: map[string]int{}, line: 1}
	w.value("", 0)
	for _, p := range pointers {
		at := p
		for w.found[at] == 0 && at != "" {
			at = at[:strings.LastIndexByte(at, '/')]
			if line, ok := w.all[at]; ok {
				w.found[p] = line
				break
			}
		}
		if w.found[p] == 0 {
			w.found[p] = 1
		}
	}
	return w.found
}

type lineWalker struct {
	text   string
	dec    *json.Decoder
	wanted map[string]bool
	found  map[string]int
	all    map[string]int // of objects and lists
	offset int
	line   int
}

// lineNow returns the line of the token that was read last.
func (w *lineWalker) lineNow() int {
	end := min(int(w.dec.InputOffset()), len(w.text))
	w.line += strings.Count(w.text[w.offset:end], "\n")
	w.offset = end
	return w.line
}

// value reads a value, and reports false at the end or an error.
func (w *lineWalker) value(pointer string, line int) bool {
	token, err := w.dec.Token()
	if err != nil {
		return false
	}
	if line == 0 {
		line = w.lineNow()
	}
	if w.wanted[pointer] {
		w.found[pointer] = line
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return true
	}
	if w.all == nil {
		w.all = map[string]int{}
	}
	w.all[pointer] = line
	for i := 0; w.dec.More(); i++ {
		name, line := strconv.Itoa(i), 0
		if delim == '{' {
			token, err := w.dec.Token()
			text, ok := token.(string)
			if err != nil || !ok {
				return false
			}
			name, line = text, w.lineNow()
		}
		if !w.value(joinPointer(pointer, name), line) {
			return false
		}
	}
	_, err = w.dec.Token()
	return err == nil
}
