package askdata

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Millis is a duration whose JSON form is a number of milliseconds.
type Millis time.Duration

// MarshalJSON implements [json.Marshaler].
func (m Millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/float64(time.Millisecond), 'f', -1, 64), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *Millis) UnmarshalJSON(raw []byte) error {
	var ms float64
	if err := json.Unmarshal(raw, &ms); err != nil {
		return err
	}
	*m = Millis(math.Round(ms * float64(time.Millisecond)))
	return nil
}
