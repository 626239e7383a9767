package beam

import (
	"os"
	"runtime/debug"
)

// memoryLimit is what the runtime is asked to stay under, in bytes: enough for a
// million runs that wait. What the log's engine has read and may need again
// counts as garbage, and is let go before the limit is passed, instead of when
// the heap has doubled.
const memoryLimit = 1280 << 20

// limitMemory sets the limit, unless the operator has set one. It is no bound:
// with more in use, the garbage collector runs more often, and all goes on.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
