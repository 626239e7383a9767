package command

import (
	"encoding"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is the type of every flag that is a duration. It accepts days and
// weeks as well as the units of [time.ParseDuration].
type Duration time.Duration

// Size is the type of flags that are a number of bytes.
type Size int64

var (
	_ encoding.TextUnmarshaler = (*Duration)(nil)
	_ encoding.TextUnmarshaler = (*Size)(nil)
	_ encoding.TextUnmarshaler = (*levelFlag)(nil)
)

// flagValueError returns the error for a value that is not what the flag wants.
func flagValueError(text []byte, want string) error {
	return fmt.Errorf("must be %s, not %q", want, text)
}

// UnmarshalText implements [encoding.TextUnmarshaler]. Weeks and days come
// first, as in 1w2d12h.
func (d *Duration) UnmarshalText(text []byte) error {
	rest, total := string(text), time.Duration(0)
	invalid := flagValueError(text, "a time such as 90s, 12h, 7d or 2w")
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		digits, after, found := strings.Cut(rest, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || n > uint64((math.MaxInt64-total)/unit.length) {
			return invalid
		}
		total, rest = total+time.Duration(n)*unit.length, after
	}
	if rest != "" || len(text) == 0 {
		n, err := time.ParseDuration(rest)
		if err != nil || n < 0 || n > math.MaxInt64-total {
			return invalid
		}
		total += n
	}
	*d = Duration(total)
	return nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It requires a unit except
// for 0: nobody who writes a number alone means bytes.
func (s *Size) UnmarshalText(text []byte) error {
	number := strings.TrimRight(string(text), "BKMGTi")
	unit := string(text)[len(number):]
	if len(unit) > 1 {
		unit = strings.TrimSuffix(unit, "B")
	}
	factor := uint64(1000)
	if strings.HasSuffix(unit, "i") {
		factor = 1024
	}
	power, known := map[string]int{"B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4}[unit]
	n, err := strconv.ParseUint(number, 10, 63)
	invalid := flagValueError(text, "a size such as 500MB or 2GiB")
	if err != nil || !known && string(text) != "0" {
		return invalid
	}
	for range power {
		if n > math.MaxInt64/factor {
			return invalid
		}
		n *= factor
	}
	*s = Size(n)
	return nil
}

// levelFlag is the type of flags that are a log level.
type levelFlag slog.Level

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *levelFlag) UnmarshalText(text []byte) error {
	for _, known := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(string(text), known.String()) {
			*l = levelFlag(known)
			return nil
		}
	}
	return fmt.Errorf("must be debug, info, warn or error, not %q", text)
}
