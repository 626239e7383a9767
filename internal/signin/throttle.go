// Package signin slows down those who guess credentials: tokens and sign-in codes.
package signin

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// MaxAttempts is how many wrong credentials an address may present before it has to
// wait.
const MaxAttempts = 10

// The bounds of the wait, which doubles with each further wrong credential, and how long an
// address must have presented none until its failures are forgotten.
const (
	minWait     = time.Second
	maxWait     = time.Minute
	forgetAfter = 10 * time.Minute
)

// Bounds of what is remembered, and of wrong credentials from all addresses in a minute: an
// attacker may have many.
const (
	maxAddresses      = 10_000
	maxKnown          = 10_000
	maxFailuresPerMin = 600
)

// A TooManyError says that an address must wait before it presents another credential.
type TooManyError struct{ RetryAfter time.Duration }

// Error implements [error].
func (e *TooManyError) Error() string {
	return fmt.Sprintf("too many wrong credentials came from your address; try again in %s", e.RetryAfter.Round(time.Second))
}

// A Throttle refuses credentials from addresses that have presented too many wrong ones.
// A credential that was right before is never refused, so that those who use it aren't
// locked out by others with the same address. Its methods may be called from several
// goroutines.
type Throttle struct {
	logger *slog.Logger

	mu        sync.Mutex
	byAddress map[netip.Prefix]*record
	known     map[[sha256.Size]byte]struct{} // right credentials
	minute    time.Time                      // when the minute began that failures are counted in
	inMinute  int
	pending   int // attempts that are being checked
	counts    Counts
}

// A record has what an address did.
type record struct {
	failures     int
	pending      int // attempts that are being checked
	last         time.Time
	blockedUntil time.Time
}

// Counts are the wrong credentials, and the attempts that were refused unseen.
type Counts struct{ Wrong, Refused int64 }

// New returns a throttle.
func New(logger *slog.Logger) *Throttle {
	return &Throttle{logger: logger, byAddress: make(map[netip.Prefix]*record), known: make(map[[sha256.Size]byte]struct{})}
}

// Attempt calls check, which reports whether a credential from an address is right, unless
// the address must wait: then the error is a [*TooManyError]. It logs a wrong one.
// Attempts that are being checked count as wrong, so that many at once gain nothing.
func (t *Throttle) Attempt(from netip.Addr, credential string, check func() (right bool)) error {
	key := sha256.Sum256([]byte(credential))
	if known, err := t.begin(from, key); err != nil || known {
		if err == nil && !check() {
			t.Forget(credential)
		}
		return err
	}
	right := false
	defer func() { t.end(from, key, right) }()
	right = check()
	return nil
}

// begin returns an error if the address must wait, and reports whether the credential was
// right before.
func (t *Throttle) begin(from netip.Addr, key [sha256.Size]byte) (known bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.known[key]; ok {
		return true, nil
	}
	now := time.Now()
	if now.Sub(t.minute) >= time.Minute {
		t.minute, t.inMinute = now, 0
	}
	if t.inMinute+t.pending >= maxFailuresPerMin {
		return false, t.refuse(t.minute.Add(time.Minute).Sub(now))
	}
	r := t.record(network(from), now)
	wait := r.blockedUntil.Sub(now)
	if r.pending > 0 && r.failures+r.pending >= MaxAttempts {
		wait = max(wait, minWait)
	}
	if wait > 0 {
		return false, t.refuse(wait)
	}
	r.pending++
	t.pending++
	return false, nil
}

// refuse returns the error for an address that must wait. Callers hold mu.
func (t *Throttle) refuse(wait time.Duration) error {
	t.counts.Refused++
	return &TooManyError{max(wait.Round(time.Second), minWait)}
}

// end notes the outcome of an attempt, and logs it if the credential was wrong.
func (t *Throttle) end(from netip.Addr, key [sha256.Size]byte, right bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	r := t.record(network(from), now)
	r.pending = max(r.pending-1, 0) // another attempt may have made the record anew
	t.pending--
	if right {
		if len(t.known) >= maxKnown {
			clear(t.known)
		}
		t.known[key] = struct{}{}
		return
	}
	t.inMinute++
	t.counts.Wrong++
	r.failures++
	r.last = now
	wait := time.Duration(0)
	if over := r.failures - MaxAttempts; over >= 0 {
		wait = min(minWait<<min(over, 10), maxWait)
		r.blockedUntil = now.Add(wait)
	}
	t.logger.Warn("a wrong credential was presented", "address", from.String(), "failures", r.failures, "wait", wait.String())
	if t.inMinute == maxFailuresPerMin {
		t.logger.Error("too many wrong credentials: until the minute is over, only those that were right before are checked", "failures", t.inMinute)
	}
}

// Forget notes that a credential isn't right, or no longer.
func (t *Throttle) Forget(credential string) {
	key := sha256.Sum256([]byte(credential))
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, key)
}

// record returns the record of a network. Callers hold mu.
func (t *Throttle) record(n netip.Prefix, now time.Time) *record {
	r := t.byAddress[n]
	if r != nil && (r.pending > 0 || now.Sub(r.last) < forgetAfter) {
		return r
	}
	if len(t.byAddress) >= maxAddresses {
		for other, o := range t.byAddress {
			if o.pending == 0 && now.Sub(o.last) >= forgetAfter {
				delete(t.byAddress, other)
			}
		}
	}
	r = &record{last: now}
	if len(t.byAddress) < maxAddresses {
		t.byAddress[n] = r
	}
	return r
}

// Counts returns what was counted so far.
func (t *Throttle) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

// network returns whose failures count together: those of an IPv4 address, or of a network
// of IPv6, within which a machine chooses its addresses.
func network(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := 32
	if a.Is6() {
		bits = 64
	}
	n, err := a.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{} // a connection without an address, such as a pipe
	}
	return n
}
