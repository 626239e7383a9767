package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// described are the attributes that tie a control to its label, its rules and
// its errors.
func described(f *control) templ.Attributes {
	a := templ.Attributes{}
	if ids := f.described(); ids != "" {
		a["aria-describedby"] = ids
	}
	if f.by != "" {
		a["aria-labelledby"] = f.by
	}
	if f.invalid() && f.widget != radios && f.widget != checkboxes {
		a["aria-invalid"] = "true"
	}
	return a
}

func (c *control) inputAttributes() templ.Attributes {
	a := described(c)
	for k, v := range c.attributes() {
		a[k] = v
	}
	return a
}

func fragment(id string) templ.SafeURL { return templ.SafeURL("#" + id) }

func problems(list []*control, other, files []string) int {
	n := len(other) + len(files)
	for _, c := range list {
		n += len(c.errors)
	}
	return n
}

// sentence joins messages about one field, such as "must be a number".
func sentence(messages []string) string { return upper(strings.Join(messages, "; ")) }

func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
