package cli

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// memoryLimit is the soft limit of the Go runtime's memory, in bytes: enough for
// a million waiting runs. It makes the runtime collect the caches of the log's
// engine before the limit, instead of when the heap has doubled.
const memoryLimit = 1280 << 20

// limitMemory sets the runtime's soft memory limit, unless $GOMEMLIMIT does. If
// more than two thirds of the limit are live, the limit is half as much again as
// what is live: near a limit, the collector takes the time of everything else.
// It is called again as the heap grows.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetMemoryLimit(max(memoryLimit, int64(live[0].Value.Uint64())*3/2))
}
