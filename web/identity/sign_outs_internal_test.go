package identity

import (
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/smallstate"
)

// Signing out everywhere also ends a session that began with a clock that is ahead, as of another
// process, and none that begins afterwards, however soon.
func TestSignOutsWithSeveralClocks(t *testing.T) {
	s := signOutsIn(smallstate.NewMemory())
	ahead := float64(time.Now().Add(clockSkew - time.Second).UnixMilli())
	for range 3 {
		if err := s.record(t.Context(), "ada"); err != nil {
			t.Fatal(err)
		}
		if ended, err := s.hasEnded("ada", ahead); err != nil || !ended {
			t.Fatalf("the session that began before has ended: %v, %v", ended, err)
		}
		next, err := s.nextStart("ada")
		if err != nil {
			t.Fatal(err)
		}
		if ended, err := s.hasEnded("ada", next); err != nil || ended {
			t.Fatalf("the next session has ended: %v, %v", ended, err)
		}
		ahead = next
	}
}
