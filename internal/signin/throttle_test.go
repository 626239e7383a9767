package signin

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var ada, bob = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// guess presents n credentials, and returns how many of them were checked.
func guess(t *Throttle, from netip.Addr, n int) (checked int) {
	for i := range n {
		_ = t.Attempt(from, fmt.Sprint("guess", i), func() bool { checked++; return false })
	}
	return checked
}

func TestGuessesAreSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		throttle := New(slog.New(slog.NewTextHandler(&log, nil)))
		right := func() bool { return true }
		if err := throttle.Attempt(ada, "right", right); err != nil {
			t.Fatal(err)
		}
		if n := guess(throttle, ada, 13_000); n != 10 {
			t.Errorf("%d of 13,000 guesses were checked, want 10", n)
		}
		if n := strings.Count(log.String(), "a wrong credential was presented"); n != 10 {
			t.Errorf("the log has %d lines, want 10", n)
		}
		if throttle.Attempt(ada, "right", right) != nil || throttle.Attempt(bob, "another", right) != nil {
			t.Error("a credential that was right before, and another address, are refused")
		}
		var tooMany *TooManyError
		if err := throttle.Attempt(ada, "x", right); !errors.As(err, &tooMany) || tooMany.RetryAfter != time.Second {
			t.Errorf("the error is %v", err)
		}
		checked := 0
		for range 3600 {
			time.Sleep(time.Second)
			checked += guess(throttle, ada, 10)
		}
		if checked > 70 {
			t.Errorf("%d guesses were checked in an hour", checked)
		}
		time.Sleep(forgetAfter)
		if n := guess(throttle, ada, 20); n != 10 {
			t.Errorf("after a pause, %d were checked, want 10", n)
		}
	})
}

// TestManyGuessesAtOnce checks that guesses which are checked at the same time count.
func TestManyGuessesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle, checked := New(slog.New(slog.DiscardHandler)), 0
		var mu sync.Mutex
		for i := range 1000 {
			go throttle.Attempt(ada, fmt.Sprint(i), func() bool {
				mu.Lock()
				checked++
				mu.Unlock()
				time.Sleep(time.Second)
				return false
			})
		}
		synctest.Wait()
		if checked != 10 {
			t.Errorf("%d were checked, want 10", checked)
		}
		time.Sleep(2 * time.Second) // until the checks are over
	})
}

func TestManyAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := New(slog.New(slog.DiscardHandler))
		checked := 0
		for i := range 100_000 {
			checked += guess(throttle, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 1)
		}
		if checked != maxFailuresPerMin {
			t.Errorf("%d were checked, want %d", checked, maxFailuresPerMin)
		}
		time.Sleep(time.Minute)
		if throttle.Attempt(bob, "x", func() bool { return true }) != nil {
			t.Error("the next minute is refused, too")
		}
	})
}

func TestNetworksOfIPv6CountAsOne(t *testing.T) {
	throttle := New(slog.New(slog.DiscardHandler))
	checked := 0
	for i := range 100 {
		checked += guess(throttle, netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1)), 1)
	}
	if checked != 10 {
		t.Errorf("%d were checked, want 10", checked)
	}
}

func TestAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, tt := range []struct{ conn, forwarded, want string }{
		{"192.0.2.1:5", "", "192.0.2.1"},
		{"192.0.2.1:5", "198.51.100.7", "192.0.2.1"},
		{"10.0.0.1:5", "198.51.100.7", "198.51.100.7"},
		{"10.0.0.1:5", "203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"},
		{"10.0.0.1:5", "", "10.0.0.1"},
		{"10.0.0.1:5", "198.51.100.7, nonsense", "10.0.0.1"},
		{"10.0.0.1:5", "203.0.113.9, 198.51.100.7:4711", "198.51.100.7"},
		{"10.0.0.1:5", "[2001:db8::1]:4711", "2001:db8::1"},
		{"10.0.0.1:5", "[2001:db8::1]", "2001:db8::1"},
		{"[::ffff:10.0.0.1]:5", "2001:db8::1", "2001:db8::1"},
		{"pipe", "198.51.100.7", "invalid IP"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.conn
		r.Header.Set("X-Forwarded-For", tt.forwarded)
		if got := Address(r, proxies).String(); got != tt.want {
			t.Errorf("%s by %q: %s, want %s", tt.forwarded, tt.conn, got, tt.want)
		}
	}
}
