package cli

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// memoryLimit is what the runtime is asked to stay under, in bytes: enough for a
// million runs that wait. What the log's engine has read and may need again
// counts as garbage, and is let go before the limit is passed, instead of when
// the heap has doubled.
const memoryLimit = 1280 << 20

// limitMemory sets the limit, unless the operator has set one. What is in use,
// by a tool perhaps, raises it by as much and a half: collecting what is no
// garbage would take the time of everything else. It is called now and then.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetMemoryLimit(max(memoryLimit, int64(live[0].Value.Uint64())*3/2))
}
