package askdata

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/rule"
)

// checkFormat reports whether s is valid in one of the formats of MCP, and adds an
// error if it is not. Any text is valid in another format.
func (c *checker) checkFormat(format, s string) bool {
	var layout string
	switch format {
	case "date":
		layout = time.DateOnly
	case "date-time":
		layout = time.RFC3339 // unlike JSON Schema's format, package time has no leap seconds
	case "email", "uri":
	default:
		return true
	}
	if layout != "" {
		if _, err := time.Parse(layout, s); err != nil {
			c.violate(rule.Format, format, "")
			return false
		}
	}
	if formatSchemas()[format].Validate(rawjson.EncodeText(s)) != nil {
		c.violate(rule.Format, format, "")
		return false
	}
	return true
}

func (c *checker) checkPattern(f *Field, s string) {
	expr := f.effectivePattern()
	if expr == "" {
		return
	}
	re, err := patterns.compile(expr)
	switch {
	case err != nil:
		c.addError("", "can't be checked: %v", err)
	case re.MatchString(s):
	case f.PatternHint != "" && expr != TimePattern:
		c.addError(rule.Pattern, "%s", f.PatternHint)
	default:
		c.violate(rule.Pattern, expr, "")
	}
}

// formatSchemas returns a schema for each format of MCP's forms.
var formatSchemas = sync.OnceValue(func() map[string]*generators.Schema {
	schemas := make(map[string]*generators.Schema)
	for _, format := range []string{"email", "uri", "date", "date-time"} {
		s, err := generators.ParseSchema(fmt.Appendf(nil, `{"type":"string","format":%q}`, format))
		if err != nil {
			panic(err) // the schema is a constant
		}
		schemas[format] = s
	}
	return schemas
})

// patterns caches compiled patterns: compiling costs more than matching.
var patterns patternCache

// maxPatterns is the number of entries at which a patternCache is cleared.
const maxPatterns = 512

type patternCache struct {
	mu     sync.Mutex
	byExpr map[string]*regexp.Regexp
}

func (p *patternCache) compile(expr string) (*regexp.Regexp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if re, ok := p.byExpr[expr]; ok {
		return re, nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	if p.byExpr == nil || len(p.byExpr) >= maxPatterns {
		p.byExpr = make(map[string]*regexp.Regexp)
	}
	p.byExpr[expr] = re
	return re, nil
}
