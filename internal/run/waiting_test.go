//go:build !race

package run_test

import "testing"

// TestAWaitingRunIsSmall: it takes less than 8 KB (BenchmarkWaiting measures).
// 4 KB more than that, and the stack has grown beyond the size that the Go
// runtime shrinks: see Call.Wait and the functions that are not inlined.
func TestAWaitingRunIsSmall(t *testing.T) {
	const runs, most = 5_000, 10_000
	memory, _ := wait(t, runs)
	if each := memory / runs; each > most {
		t.Errorf("a run that waits takes %d bytes, and may take %d", each, most)
	}
}
