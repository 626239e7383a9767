package cli

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Memory is given back to the system when it has grown by so much and then
// nothing went on for a while: thousands of questions may wait for days, and
// what asking them took need not be kept.
const (
	memoryCheckInterval   = 2 * time.Second
	memoryGrowthThreshold = 32 << 20 // bytes
	quietAllocThreshold   = 1 << 20  // bytes allocated between two looks, at most
)

// releaseIdleMemory gives memory back, and keeps the limit where it belongs, until ctx ends.
func releaseIdleMemory(ctx context.Context) {
	look := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	held := func() (now, allocated uint64) {
		metrics.Read(look)
		return look[0].Value.Uint64() - look[1].Value.Uint64(), look[2].Value.Uint64()
	}
	after, before := held()
	started := true // what the start took is given back, too
	t := time.NewTicker(memoryCheckInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		limitMemory()
		now, allocated := held()
		if quiet := allocated-before < quietAllocThreshold; quiet && (started || now > after+memoryGrowthThreshold) {
			debug.FreeOSMemory()
			after, allocated = held()
			started = false
		}
		before = allocated
		after = min(after, now)
	}
}
