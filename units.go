package beam

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// age is a time as a flag, with days and weeks beside what Go knows.
type age time.Duration

// size is a number of bytes as a flag.
type size int64

var (
	_ encoding.TextUnmarshaler = (*age)(nil)
	_ encoding.TextUnmarshaler = (*size)(nil)
)

var errAge = errors.New("must be a time such as 12h, 7d or 2w")

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *age) UnmarshalText(text []byte) error {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		digits, ok := strings.CutSuffix(string(text), unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || n > uint64(math.MaxInt64/length) {
			return errAge
		}
		*a = age(time.Duration(n) * length)
		return nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil || d < 0 {
		return errAge
	}
	*a = age(d)
	return nil
}

var errSize = errors.New("must be a size such as 500MB or 2GiB")

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *size) UnmarshalText(text []byte) error {
	number := strings.TrimRight(string(text), "BKMGTi")
	unit := strings.TrimSuffix(string(text)[len(number):], "B")
	factor := uint64(1000)
	if strings.HasSuffix(unit, "i") {
		factor = 1024
	}
	power, known := map[string]int{"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4}[unit]
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || !known {
		return errSize
	}
	for range power {
		if n > math.MaxInt64/factor {
			return errSize
		}
		n *= factor
	}
	*s = size(n)
	return nil
}

// bytesText is a number of bytes for people.
func bytesText(n int64) string {
	value, units := float64(n), "BKMGT"
	for value >= 1000 && len(units) > 1 {
		value, units = value/1000, units[1:]
	}
	if units[0] == 'B' {
		return fmt.Sprint(n, " B")
	}
	return fmt.Sprintf("%.1f %cB", value, units[0])
}
