package generators

import (
	"encoding/json"
	"fmt"
	"math"
)

// finiteOrZero returns f, or 0 if f is NaN or infinite, which JSON can't represent.
func finiteOrZero(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// mustMarshal encodes values for which json.Marshal can't fail.
func mustMarshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("generators: encoding %T: %v", v, err))
	}
	return raw
}
