package jetstream

import (
	"hash/maphash"
	"sort"
	"sync"
)

// tailCache remembers where runs end that were appended to of late, so that an
// append need not ask. It may forget at any time, and what it says may be out
// of date: the engine compares for itself.
type tailCache struct{ shards [16]tailShard }

// tailShard forgets the older half when the newer is full.
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

// seekMark says that an ordinal is in or after a message. Messages with lower
// ordinals are before it.
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

// find also makes the run one that is not forgotten soon; nil if it is not here.
// Callers hold mu.
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

// findOrAdd is the run that find finds, or a new one. Callers hold mu.
func (s *tailShard) findOrAdd(run string) *cachedTail {
	r := s.find(run)
	if r == nil {
		r = &cachedTail{}
		s.put(run, r)
	}
	return r
}

// advance notes a message that was added, with the ordinal of its first entry.
func (t *tailCache) advance(run string, to runTail, first uint64) {
	s := t.shardOf(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.findOrAdd(run)
	if to.streamSeq <= r.streamSeq {
		return
	}
	if first == 1 {
		r.marks = nil // the run was deleted and begun again
	}
	r.runTail = to
	since := uint64(1)
	if n := len(r.marks); n > 0 {
		since = r.marks[n-1].firstSeq
	}
	if first >= since+seekMarkInterval {
		r.marks = append(r.marks, seekMark{first, to.streamSeq})
	}
}

// update notes where a run was found to end.
func (t *tailCache) update(run string, at runTail) {
	s := t.shardOf(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.streamSeq == 0 {
		return // there is no such run
	}
	if r := s.findOrAdd(run); at.streamSeq > r.streamSeq {
		r.runTail = at
	}
}

// seekSeq is a sequence in the stream from which to look for what follows an
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

// evict forgets a run that takes no more to find than it would to ask.
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
