package ui

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// ariaAttributes are the attributes that tie a control to its label, its rules and
// its errors.
func ariaAttributes(f *formControl) templ.Attributes {
	a := templ.Attributes{}
	if ids := f.describedBy(); ids != "" {
		a["aria-describedby"] = ids
	}
	if f.labelledBy != "" {
		a["aria-labelledby"] = f.labelledBy
	}
	if f.hasErrors() && f.widget != radios && f.widget != checkboxes {
		a["aria-invalid"] = "true"
	}
	return a
}

func (c *formControl) inputAttributes() templ.Attributes {
	a := ariaAttributes(c)
	for k, v := range c.boundAttributes() {
		a[k] = v
	}
	return a
}

// localTimeAttributes are the attributes that turn a moment and its bounds from UTC
// into the time of whoever looks, where there is script.
func (c *formControl) localTimeAttributes() templ.Attributes {
	a := templ.Attributes{}
	if e := localTimeExpression(c.Earliest); e != "" {
		a["data-attr:min"] = e
	}
	if e := localTimeExpression(c.Latest); e != "" {
		a["data-attr:max"] = e
	}
	if e := localTimeExpression(c.timestamp()); e != "" {
		a["data-init"] = "el.value === el.defaultValue && (el.value = " + e + ")"
	}
	return a
}

// localTimeExpression is the expression for a moment in the time zone of the browser.
// Nothing of the text stands in it but the moment's number.
func localTimeExpression(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("(d => new Date(d - d.getTimezoneOffset() * 60000).toISOString().slice(0, 16))(new Date(%d))", t.UnixMilli())
}

func fragmentURL(id string) templ.SafeURL { return templ.SafeURL("#" + id) }

func countErrors(list []*formControl, other, files []string) int {
	n := len(other) + len(files)
	for _, c := range list {
		n += len(c.errors)
	}
	return n
}

// joinMessages joins messages about one field, such as "must be a number".
func joinMessages(messages []string) string { return capitalize(strings.Join(messages, "; ")) }

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
