package mcp

import "time"

// A watch sees to it that somebody has the helm. It goes as long as the helm is
// passed on: to set a timer each time would wake a thread each time. It is
// guarded by the helm's mu.
type watch struct {
	timer *time.Timer // nil until the helm was let go of once
	goes  bool
	times uint64 // that the helm was let go of
	seen  uint64 // of those, at the last look
	// quiet has the runtime told of reads and writes, or not told; nil if that
	// can't be chosen.
	quiet func(bool)
}

// A quieter can be read, and what belongs to it be written, without telling the
// runtime, as [nowait.Pair] describes. It asks for a timer, which the watch is.
type quieter interface{ Quiet(on bool) }

// unmanned is how long nobody may have the helm; at most it is twice as long.
const unmanned = 20 * time.Millisecond

// take takes the helm, if it is free.
func (h *helm) take() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.free || h.ended {
		return false
	}
	h.free = false
	return true
}

// letGo lets go of the helm.
func (h *helm) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = true
	h.watch.times++
	if h.watch.goes || h.ended {
		return
	}
	h.watch.goes, h.watch.seen = true, h.watch.times
	if h.watch.timer == nil {
		h.watch.timer = time.AfterFunc(unmanned, h.look)
	} else {
		h.watch.timer.Reset(unmanned)
	}
}

// look has a new goroutine take the helm if nobody had it since the last look.
func (h *helm) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &h.watch
	passed := w.times > w.seen
	w.seen = w.times
	if w.goes = passed && !h.ended; w.goes {
		w.timer.Reset(unmanned)
	} else if h.free && !h.ended {
		h.free = false
		go h.steer()
	}
	if w.quiet != nil {
		w.quiet(w.goes)
	}
}
