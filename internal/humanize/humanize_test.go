package humanize_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/humanize"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 12: "12 rows", 999: "999 rows", 1234: "1,234 rows", 1234567: "1,234,567 rows", -123: "-123 rows", -1234: "-1,234 rows"} {
		if got := humanize.Count(n, "row"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 1234: "1,234 entries"} {
		if got := humanize.CountOf(n, "entry", "entries"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 9949: "9.9 kB", 9951: "10 kB", 9960: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB", 999_600: "1.0 MB", 3_400_000: "3.4 MB", 104_857_600: "105 MB", 9_940: "9.9 kB", 9_950: "10 kB", 1 << 30: "1.1 GB", 5e12: "5.0 TB", 5e15: "5.0 PB", math.MaxInt64: "9.2 EB"} {
		if got := humanize.Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 0: "0 ms", 40 * time.Millisecond: "40 ms", 400 * time.Millisecond: "0.4 s", 59 * time.Second: "59.0 s",
		time.Minute: "1 min 0 s", 65 * time.Second: "1 min 5 s", 200 * time.Minute: "3 h 20 min", 47 * time.Hour: "47 h 0 min", 49 * time.Hour: "2 days",
	} {
		if got := humanize.Duration(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0:00", 59900 * time.Millisecond: "0:59", 83 * time.Second: "1:23", 3723 * time.Second: "1:02:03"} {
		if got := humanize.Clock(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Minute: "just now", 9 * time.Second: "just now", 40 * time.Second: "40 s ago", 5*time.Minute + 59*time.Second: "5 min ago", 3 * time.Hour: "3 h ago", 50 * time.Hour: "2 days ago",
	} {
		if got := humanize.Ago(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äöü…"}, {"a\xff\xffb", 2, "a\xff…"}, {"ab", 0, "…"}} {
		if got := humanize.Truncate(c.text, c.n); got != c.want {
			t.Errorf("%q to %d characters: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestTruncateBytes(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 5, ""}, {"abcde", 5, "abcde"}, {"abcdef", 5, "ab…"}, {"aääää", 5, "a…"}, {"äääää", 5, "ä…"}, {"ääääää", 4, "…"},
		{strings.Repeat("\x80", 9), 8, strings.Repeat("\x80", 2) + "…"},
	} {
		if got := humanize.TruncateBytes(c.text, c.n, "…"); got != c.want {
			t.Errorf("%q to %d bytes: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestList(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a, b": {"a", "b"}, "a, b and 1 more": {"a", "b", "c"}} {
		if got := humanize.List(names, 2); got != want {
			t.Errorf("List(%q) = %q, want %q", names, got, want)
		}
	}
}
