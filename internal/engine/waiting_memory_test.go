//go:build !race

package engine_test

import "testing"

// TestAWaitingRunIsSmall: it takes less than 16 KB (BenchmarkWaiting measures).
func TestAWaitingRunIsSmall(t *testing.T) {
	const runs, most = 5_000, 16 << 10
	memory, _ := measureWaitingRuns(t, runs)
	if each := memory / runs; each > most {
		t.Errorf("a run that waits takes %d bytes, and may take %d", each, most)
	}
}
