package programtest

import "time"

// WaitTimeout is how long tests wait for what must happen. It ends tests that hang, and
// is much longer than anything takes on a busy machine.
const WaitTimeout = 2 * time.Minute

// Poll calls done until it returns true, and reports whether it has within
// [WaitTimeout]. It is for what announces no change: files, lists, and the state of
// other processes.
func Poll(done func() bool) bool {
	pause := time.Millisecond
	for end := time.Now().Add(WaitTimeout); !done(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause) // nothing announces what done looks at
	}
	return true
}
