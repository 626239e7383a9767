package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// A counterFamily is a counter with one or two labels. Unlike the lookup of a
// [prometheus.CounterVec], its lookup doesn't allocate.
type counterFamily struct {
	*prometheus.CounterVec
	labels int

	mu     sync.RWMutex
	cached map[[2]string]prometheus.Counter
}

func newCounterFamily(name, help string, labels ...string) *counterFamily {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	return &counterFamily{CounterVec: vec, labels: len(labels), cached: map[[2]string]prometheus.Counter{}}
}

// with returns the counter for values of the labels. If there is one label, second
// is ignored.
func (f *counterFamily) with(first, second string) prometheus.Counter {
	key := [2]string{first, second}
	f.mu.RLock()
	c := f.cached[key]
	f.mu.RUnlock()
	if c == nil {
		c = f.create(key)
	}
	return c
}

func (f *counterFamily) create(key [2]string) prometheus.Counter {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.WithLabelValues(key[:f.labels]...)
	f.cached[key] = c
	return c
}
