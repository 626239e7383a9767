package controls

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
)

// hint describes the field's rules, unless one of its errors does.
func (c *Control) hint() string {
	if slices.ContainsFunc(c.problems(), func(p fieldProblem) bool { return p.statesRules }) {
		return ""
	}
	return c.rulesHint()
}

// rulesHint describes the field's rules.
func (c *Control) rulesHint() string {
	text := Capitalize(c.rules())
	switch {
	case c.Example == "":
		return text
	case text != "":
		text += ". "
	}
	return text + "For example: " + c.Example
}

// rules describes the field's rules, as part of a sentence.
func (c *Control) rules() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if s := c.lengthRule(); s != "" {
		add("%s", s)
	}
	if s := FormatRange(c.MinItems, c.MaxItems, "choice", "choices"); s != "" && c.Type == "array" {
		add("%s", s)
	}
	switch lo, hi := c.Minimum, c.Maximum; {
	case lo != nil && hi != nil:
		add("from %s to %s", humanize.Number(*lo), humanize.Number(*hi))
	case lo != nil:
		add("%s or more", humanize.Number(*lo))
	case hi != nil:
		add("at most %s", humanize.Number(*hi))
	}
	if c.Step != nil && !(c.Type == "integer" && *c.Step == 1) {
		add("in steps of %s", humanize.Number(*c.Step))
	}
	switch lo, hi := formatBound(c.Earliest), formatBound(c.Latest); {
	case lo != "" && hi != "":
		add("from %s to %s", lo, hi)
	case lo != "":
		add("not before %s", lo)
	case hi != "":
		add("not after %s", hi)
	}
	if c.Pattern != "" && c.PatternHint != "" {
		add("%s", c.PatternHint)
	}
	if c.Rule != "" {
		add("%s", c.Rule)
	}
	if c.Type == "" && (c.Kind == form.Control || c.Kind == form.JSON) {
		add("JSON")
	}
	return strings.Join(parts, ", ")
}

func (c *Control) lengthRule() string {
	return FormatRange(c.MinLength, c.MaxLength, "character", "characters")
}

func formatBound(s string) string {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC().Format("2006-01-02 15:04 UTC")
	}
	return s
}

func FormatRange(lo, hi int, one, many string) string {
	switch {
	case lo > 0 && hi > 0 && lo == hi:
		return humanize.CountOf(lo, one, many)
	case lo > 0 && hi == lo+1:
		return fmt.Sprintf("%s or %s", humanize.Thousands(lo), humanize.CountOf(hi, one, many))
	case lo > 0 && hi > 0:
		return fmt.Sprintf("%s to %s", humanize.Thousands(lo), humanize.CountOf(hi, one, many))
	case lo > 1:
		return "at least " + humanize.CountOf(lo, one, many)
	case hi > 0:
		return "at most " + humanize.CountOf(hi, one, many)
	}
	return ""
}

// boundAttributes returns the attributes for the bounds of an <input>.
func (c *Control) boundAttributes() map[string]any {
	a := map[string]any{}
	switch c.widget {
	case "number":
		c.addNumberBounds(a)
	case "date":
		setIfNotEmpty(a, "min", c.Earliest)
		setIfNotEmpty(a, "max", c.Latest)
	case "datetime-local":
		setIfNotEmpty(a, "min", datetimeLocal(c.Earliest))
		setIfNotEmpty(a, "max", datetimeLocal(c.Latest))
	case "text", "password", "email", "url", textarea:
		if c.MinLength > 0 {
			a["minlength"] = strconv.Itoa(c.MinLength)
		}
		// No maxlength: browsers silently truncate pasted text. No pattern: browsers
		// take forever to match some. The server rejects both, with a message.
	}
	if c.widget == "password" {
		// A secret for a photon is not a password of this site. Browsers ignore
		// "off" but neither fill nor save "new-password"; the other attributes
		// address password managers.
		a["autocomplete"] = "new-password"
		a["spellcheck"] = "false"
		a["data-1p-ignore"] = "true"
		a["data-bwignore"] = "true"
		a["data-lpignore"] = "true"
		a["data-form-type"] = "other"
	}
	return a
}

func (c *Control) addNumberBounds(a map[string]any) {
	a["inputmode"] = "decimal"
	a["step"] = "any"
	step := 0.0
	if c.Type == "integer" {
		step = 1
		a["inputmode"] = "numeric"
		a["step"] = "1"
	}
	if c.Step != nil && *c.Step > 0 {
		step = *c.Step
		a["step"] = humanize.Number(step)
	}
	if c.Minimum != nil {
		a["min"] = humanize.Number(alignUp(*c.Minimum, step))
	}
	if c.Maximum != nil {
		a["max"] = humanize.Number(*c.Maximum)
	}
}

func setIfNotEmpty(a map[string]any, name, value string) {
	if value != "" {
		a[name] = value
	}
}

// alignUp returns the least multiple of step that is at least lo: an input counts its
// steps from min, while the rule counts from 0.
func alignUp(lo, step float64) float64 {
	if step <= 0 {
		return lo
	}
	if n := lo / step; n != math.Trunc(n) {
		return math.Ceil(n) * step
	}
	return lo
}
