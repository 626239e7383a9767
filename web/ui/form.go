package ui

import (
	"fmt"
	"strings"
	"time"
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

// localTimes are the attributes that turn a moment and its bounds from UTC
// into the time of whoever looks, where there is script.
func (c *control) localTimes() templ.Attributes {
	a := templ.Attributes{}
	if e := localExpression(c.Earliest); e != "" {
		a["data-attr:min"] = e
	}
	if e := localExpression(c.Latest); e != "" {
		a["data-attr:max"] = e
	}
	if e := localExpression(c.moment()); e != "" {
		a["data-init"] = "el.value === el.defaultValue && (el.value = " + e + ")"
	}
	return a
}

// localExpression is the expression for a moment in the time zone of the browser.
// Nothing of the text stands in it but the moment's number.
func localExpression(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("(d => new Date(d - d.getTimezoneOffset() * 60000).toISOString().slice(0, 16))(new Date(%d))", t.UnixMilli())
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
