package schemalimits

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// The limits of a schema's patterns, in instructions of package regexp. Matching takes
// time in proportion to them: x{1000} has 1,000.
const (
	maxPatternSize  = 4_000  // of one
	maxPatternsSize = 10_000 // of all patterns of a schema
)

// NewPatternCompiler returns a function that compiles the patterns of one schema. It
// returns an error if they exceed the limits, or have what package regexp doesn't, such
// as lookaheads.
func NewPatternCompiler() validator.RegexpEngine {
	total := 0
	return func(pattern string) (validator.Regexp, error) {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return nil, err
		}
		size, err := patternSize(parsed.Simplify())
		if err != nil {
			return nil, err
		}
		if total += size; total > maxPatternsSize {
			return nil, fmt.Errorf("the patterns of the schema are too large")
		}
		return regexp.Compile(pattern)
	}
}

// patternSize returns how many instructions a pattern has.
func patternSize(parsed *syntax.Regexp) (int, error) {
	program, err := syntax.Compile(parsed)
	if err != nil {
		return 0, err
	}
	if len(program.Inst) > maxPatternSize {
		return 0, fmt.Errorf("the pattern is too large")
	}
	return len(program.Inst), nil
}

// CheckRegexValue returns an error for a value whose format is regex, unless that format
// isn't asserted. It may be called by several goroutines.
func CheckRegexValue(value string, asserted bool) error {
	if !asserted {
		return nil
	}
	_, err := syntax.Parse(value, syntax.Perl)
	return err
}
