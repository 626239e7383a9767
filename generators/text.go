package generators

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"
)

// clip cuts text to MaxText bytes, at a character's end, and says how long it was.
func clip(s string) string {
	if len(s) <= MaxText {
		return s
	}
	note := fmt.Sprintf(" … (cut: %d bytes in all)", len(s))
	end := MaxText - len(note)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + note
}

// finite replaces what JSON can't say (NaN and the infinities) by 0.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// marshal encodes values of our own types, which can't fail.
func marshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("generators: encoding %T: %v", v, err))
	}
	return raw
}
