package controls

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/internal/medium"
)

// ariaAttributes returns the attributes that tie a control to its label, its hint and
// its errors.
func ariaAttributes(f *Control) templ.Attributes {
	a := templ.Attributes{}
	if ids := f.describedBy(); ids != "" {
		a["aria-describedby"] = ids
	}
	if f.LabelledBy != "" {
		a["aria-labelledby"] = f.LabelledBy
	}
	if f.focus == "control" {
		a["autofocus"] = true
	}
	if f.hasErrors() && f.widget != radios && f.widget != checkboxes {
		a["aria-invalid"] = "true"
	}
	return a
}

// sharedAttributes returns the attributes that tell the script which controls all variants
// have.
func (c *Control) sharedAttributes() templ.Attributes {
	if len(c.Shared) == 0 {
		return nil
	}
	names, err := json.Marshal(c.Shared)
	if err != nil { // strings are always JSON
		panic(err)
	}
	return templ.Attributes{"data-shared": string(names)}
}

func (c *Control) inputAttributes() templ.Attributes {
	a := ariaAttributes(c)
	for k, v := range c.boundAttributes() {
		a[k] = v
	}
	return a
}

// localTimeAttributes returns the attributes that convert a time and its bounds from UTC
// to the browser's time zone, on pages with script. In a chat, the view's script converts
// the time.
func (c *Control) localTimeAttributes(ctx context.Context) templ.Attributes {
	a := templ.Attributes{}
	if medium.Of(ctx) == medium.Chat {
		if t, err := time.Parse(time.RFC3339, c.timestamp()); err == nil {
			a["data-time"] = strconv.FormatInt(t.UnixMilli(), 10)
		}
		return a
	}
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

// localTimeExpression returns an expression for a time in the browser's time zone; empty
// if rfc3339 is not a time. It contains no part of the text, only a number.
func localTimeExpression(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("(d => new Date(d - d.getTimezoneOffset() * 60000).toISOString().slice(0, 16))(new Date(%d))", t.UnixMilli())
}

func Capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// HasShadowingField reports whether a field's name shadows a property of its form that
// Datastar calls (DOM clobbering): an input named "closest" makes form.closest that
// input. Names come from photons and must be posted as they are, so a form with such a
// field is shown on a page without script, where it works like any other.
func HasShadowingField(fields askdata.Fields) bool {
	for i := range fields {
		if datastarFormProperties[fields[i].Name] {
			return true
		}
	}
	return false
}

// HasShadowingPart reports the same of a form's parts.
func HasShadowingPart(f *form.Part) bool {
	for _, p := range f.Parts {
		if datastarFormProperties[p.Input] {
			return true
		}
	}
	return false
}

// datastarFormProperties are the element properties that Datastar 1.0.2 uses.
var datastarFormProperties = map[string]bool{
	"addEventListener": true, "append": true, "appendChild": true, "attributes": true, "checkValidity": true,
	"childNodes": true, "children": true, "cloneNode": true, "closest": true, "contains": true, "dataset": true,
	"dispatchEvent": true, "firstChild": true, "getAttribute": true, "hasAttribute": true, "insertBefore": true,
	"isEqualNode": true, "matches": true, "moveBefore": true, "nextSibling": true, "noValidate": true, "nodeName": true,
	"nodeType": true, "nodeValue": true, "parentElement": true, "parentNode": true, "querySelector": true,
	"querySelectorAll": true, "remove": true, "removeAttribute": true, "removeChild": true, "removeEventListener": true,
	"replaceWith": true, "reportValidity": true, "setAttribute": true, "shadowRoot": true, "tagName": true,
}
