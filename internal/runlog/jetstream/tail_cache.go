package jetstream

import (
	"hash/maphash"
	"sort"
	"sync"
)

// tailCache caches the ends of runs that were appended to recently, so that an
// append need not read them. A cached tail may be stale: appends are conditional,
// and fail if it is.
type tailCache struct{ shards [16]tailShard }

// tailShard discards the older generation when the newer one is full.
type tailShard struct {
	mu           sync.Mutex
	newer, older map[string]*cachedTail
}

const (
	maxShardTails    = 2048
	seekMarkInterval = 512 // ordinals
)

type cachedTail struct {
	runTail
	marks []seekMark
}

// seekMark maps an ordinal to a stream sequence: the messages with lower ordinals
// have lower sequences.
type seekMark struct{ firstSeq, streamSeq uint64 }

var shardSeed = maphash.MakeSeed()

func (t *tailCache) shardOf(run string) *tailShard {
	return &t.shards[maphash.String(shardSeed, run)%uint64(len(t.shards))]
}

func (t *tailCache) lookup(run string) (runTail, bool) {
	s := t.shardOf(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(run); r != nil {
		return r.runTail, true
	}
	return runTail{}, false
}

// find returns a run's cached tail, or nil. It moves the tail to the newer
// generation. Callers hold mu.
func (s *tailShard) find(run string) *cachedTail {
	if r := s.newer[run]; r != nil {
		return r
	}
	r := s.older[run]
	if r != nil {
		s.put(run, r)
	}
	return r
}

func (s *tailShard) put(run string, r *cachedTail) {
	if s.newer == nil || len(s.newer) >= maxShardTails {
		s.newer, s.older = make(map[string]*cachedTail), s.newer
	}
	s.newer[run] = r
}

// findOrAdd returns a run's cached tail, adding an empty one if there is none.
// Callers hold mu.
func (s *tailShard) findOrAdd(run string) *cachedTail {
	r := s.find(run)
	if r == nil {
		r = &cachedTail{}
		s.put(run, r)
	}
	return r
}

// advance sets the tail of a run after an append whose first entry has the
// ordinal first.
func (t *tailCache) advance(run string, tail runTail, first uint64) {
	s := t.shardOf(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.findOrAdd(run)
	if tail.streamSeq <= r.streamSeq {
		return
	}
	if first == 1 {
		r.marks = nil // the run was deleted and started again
	}
	r.runTail = tail
	since := uint64(1)
	if n := len(r.marks); n > 0 {
		since = r.marks[n-1].firstSeq
	}
	if first >= since+seekMarkInterval {
		r.marks = append(r.marks, seekMark{first, tail.streamSeq})
	}
}

// update sets the tail of a run that was read from the stream.
func (t *tailCache) update(run string, tail runTail) {
	s := t.shardOf(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if tail.streamSeq == 0 {
		return // there is no such run
	}
	if r := s.findOrAdd(run); tail.streamSeq > r.streamSeq {
		r.runTail = tail
	}
}

// seekSeq returns a stream sequence from which to search for the entries after an
// ordinal.
func (t *tailCache) seekSeq(run string, after uint64) uint64 {
	s := t.shardOf(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(run)
	if r == nil {
		return 1
	}
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].firstSeq > after+1 })
	if i == 0 {
		return 1
	}
	return r.marks[i-1].streamSeq
}

// evict removes a run unless it is long: the seek marks of a long run are worth
// keeping.
func (t *tailCache) evict(run string) {
	s := t.shardOf(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(run); r != nil && r.marks == nil {
		delete(s.newer, run)
		delete(s.older, run)
	}
}

func (t *tailCache) remove(run string) {
	s := t.shardOf(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.newer, run)
	delete(s.older, run)
}

func (t *tailCache) clear() {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		s.newer, s.older = nil, nil
		s.mu.Unlock()
	}
}
