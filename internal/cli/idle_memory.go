package cli

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Thousands of questions may wait for days, and the memory that asking them took
// need not be kept: it is returned to the system once it has grown by
// memoryGrowthThreshold and the program is quiet.
const (
	memoryCheckInterval   = 2 * time.Second
	memoryGrowthThreshold = 32 << 20 // bytes
	quietAllocThreshold   = 1 << 20  // bytes allocated in an interval, at most
)

// releaseIdleMemory returns unused memory to the system, until ctx ends.
func releaseIdleMemory(ctx context.Context) {
	held, before := readMemory()
	starting := true // also return what starting took
	t := time.NewTicker(memoryCheckInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		now, allocated := readMemory()
		if quiet := allocated-before < quietAllocThreshold; quiet && (starting || now > held+memoryGrowthThreshold) {
			debug.FreeOSMemory()
			held, allocated = readMemory()
			starting = false
		}
		before = allocated
		held = min(held, now)
	}
}

// readMemory returns how many bytes the process holds now, and how many it has
// allocated since it started.
func readMemory() (held, allocated uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64(), samples[2].Value.Uint64()
}
