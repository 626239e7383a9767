package stdio

import "time"

// ShutdownGrace is how long requests in progress may take once the client has closed
// its end. Requests that finish at once still get their responses.
const ShutdownGrace = time.Second

// WaitAtMost calls f on a goroutine and waits until it returns or d has passed. It reports
// whether f has returned. A client that reads nothing must not keep the server from ending.
func WaitAtMost(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() { f(); close(done) }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
