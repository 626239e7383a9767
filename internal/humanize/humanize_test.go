package humanize_test

import (
	"math"
	"testing"

	"github.com/photon-beam/beam/internal/humanize"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 12: "12 rows", 999: "999 rows", 1234: "1,234 rows", 1234567: "1,234,567 rows", -123: "-123 rows", -1234: "-1,234 rows"} {
		if got := humanize.Count(n, "row"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 9949: "9.9 kB", 9951: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB", 3_400_000: "3.4 MB", 9_940: "9.9 kB", 9_950: "10 kB", 1 << 30: "1.1 GB", 5e12: "5.0 TB", 5e15: "5.0 PB", math.MaxInt64: "9.2 EB"} {
		if got := humanize.Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
