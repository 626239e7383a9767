package generators

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEncodeLongText checks that a long text is encoded as json.Marshal does, wherever it is
// cut.
func TestEncodeLongText(t *testing.T) {
	for _, unit := range []string{"a", "é", "世", "🎈", "\"\\<&>\n\u2028", "\xff\xfe", "\xe4\xb8"} {
		for shift := range 5 {
			text := strings.Repeat("x", shift) + strings.Repeat(unit, 70_000/len(unit))
			want, _ := json.Marshal(text)
			if got, err := encodeValue(text); err != nil || string(got) != string(want) {
				t.Errorf("%q after %d letters is encoded in another way", unit, shift)
			}
		}
	}
}
