//go:build !race

package engine_test

import "testing"

// TestWaitingRunIsSmall checks that a waiting run uses less than 16 KB, which
// BenchmarkWaiting measures.
func TestWaitingRunIsSmall(t *testing.T) {
	const runs, most = 5_000, 16 << 10
	memory, _ := measureWaitingRuns(t, runs)
	if each := memory / runs; each > most {
		t.Errorf("a waiting run uses %d bytes, want at most %d", each, most)
	}
}
