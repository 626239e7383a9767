package generators_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
)

// Patterns that could keep Beam busy are refused, and others are as fast as usual.
func TestPatternsAreBounded(t *testing.T) {
	begun := time.Now()
	for pattern, ok := range map[string]bool{
		`^[a-z]{1,1000}$`: true, `^(a+)+$`: true, `(a|a)*b`: true,
		`(x{1,100}){1,100}`: false, `^(?=.*\d)`: false, strings.Repeat(`\pL{1,999}`, 30): false,
	} {
		s, err := generators.ParseSchema(fmt.Appendf(nil, `{"type":"object","properties":{"x":{"type":"string","pattern":%q}}}`, pattern))
		if (err == nil) != ok {
			t.Errorf("%.40s: %v", pattern, err)
		}
		if err == nil {
			_ = s.Validate(fmt.Appendf(nil, `{"x":%q}`, strings.Repeat("a", 10_000)+"!")) // valid or not, it is quick
		}
	}
	var properties []string
	for i := range 20 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"pattern":"x{1,999}"}`, i))
	}
	if _, err := generators.ParseSchema(json.RawMessage(`{"properties":{` + strings.Join(properties, ",") + `}}`)); err == nil {
		t.Error("patterns that are large together are accepted")
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}
