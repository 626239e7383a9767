package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// A family is a counter for each value of its labels, which are two, or one. To
// find one of them allocates nothing, as a vector's own look-up does: runs are
// counted where they work.
type family struct {
	*prometheus.CounterVec
	labels int

	mu    sync.RWMutex
	known map[[2]string]prometheus.Counter
}

func counters(name, help string, labels ...string) *family {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	return &family{CounterVec: vec, labels: len(labels), known: map[[2]string]prometheus.Counter{}}
}

// of returns the counter for values of the labels; a family with one label takes
// no second value.
func (f *family) of(first, second string) prometheus.Counter {
	key := [2]string{first, second}
	f.mu.RLock()
	c := f.known[key]
	f.mu.RUnlock()
	if c == nil {
		c = f.take(key)
	}
	return c
}

func (f *family) take(key [2]string) prometheus.Counter {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.WithLabelValues(key[:f.labels]...)
	f.known[key] = c
	return c
}
