package jetstream

import (
	"hash/maphash"
	"sort"
	"sync"
)

// tails remembers where runs end that were appended to of late, so that an
// append need not ask. It may forget at any time, and what it says may be out
// of date: the engine compares for itself.
type tails struct{ shards [16]tailShard }

// tailShard forgets the older half when the newer is full.
type tailShard struct {
	mu           sync.Mutex
	newer, older map[string]*remembered
}

const (
	shardSize = 2048
	markEvery = 512 // ordinals
)

type remembered struct {
	tail
	marks []mark
}

// mark says that an ordinal is in or after a message. Messages with lower
// ordinals are before it.
type mark struct{ first, seq uint64 }

var seed = maphash.MakeSeed()

func (t *tails) shard(run string) *tailShard {
	return &t.shards[maphash.String(seed, run)%uint64(len(t.shards))]
}

func (t *tails) get(run string) (tail, bool) {
	s := t.shard(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(run); r != nil {
		return r.tail, true
	}
	return tail{}, false
}

// find also makes the run one that is not forgotten soon; nil if it is not here.
// Callers hold mu.
func (s *tailShard) find(run string) *remembered {
	if r := s.newer[run]; r != nil {
		return r
	}
	r := s.older[run]
	if r != nil {
		s.put(run, r)
	}
	return r
}

func (s *tailShard) put(run string, r *remembered) {
	if s.newer == nil || len(s.newer) >= shardSize {
		s.newer, s.older = make(map[string]*remembered), s.newer
	}
	s.newer[run] = r
}

// made is the run that find finds, or a new one. Callers hold mu.
func (s *tailShard) made(run string) *remembered {
	r := s.find(run)
	if r == nil {
		r = &remembered{}
		s.put(run, r)
	}
	return r
}

// moved notes a message that was added, with the ordinal of its first entry.
func (t *tails) moved(run string, to tail, first uint64) {
	s := t.shard(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.made(run)
	if to.seq <= r.seq {
		return
	}
	if first == 1 {
		r.marks = nil // the run was deleted and begun again
	}
	r.tail = to
	since := uint64(1)
	if n := len(r.marks); n > 0 {
		since = r.marks[n-1].first
	}
	if first >= since+markEvery {
		r.marks = append(r.marks, mark{first, to.seq})
	}
}

// seen notes where a run was found to end.
func (t *tails) seen(run string, at tail) {
	s := t.shard(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.seq == 0 {
		return // there is no such run
	}
	if r := s.made(run); at.seq > r.seq {
		r.tail = at
	}
}

// start is a sequence in the stream from which to look for what follows an
// ordinal.
func (t *tails) start(run string, after uint64) uint64 {
	s := t.shard(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(run)
	if r == nil {
		return 1
	}
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].first > after+1 })
	if i == 0 {
		return 1
	}
	return r.marks[i-1].seq
}

// rest forgets a run that takes no more to find than it would to ask.
func (t *tails) rest(run string) {
	s := t.shard(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(run); r != nil && r.marks == nil {
		delete(s.newer, run)
		delete(s.older, run)
	}
}

func (t *tails) forget(run string) {
	s := t.shard(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.newer, run)
	delete(s.older, run)
}

func (t *tails) clear() {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		s.newer, s.older = nil, nil
		s.mu.Unlock()
	}
}
