package smallstate

import (
	"bytes"
	"context"
	"slices"
	"sync"
)

// Memory keeps values in memory.
type Memory struct {
	mu     sync.Mutex
	values map[[2]string][]byte // by bucket and key
}

var _ Store = (*Memory)(nil)

// NewMemory returns a store without values.
func NewMemory() *Memory { return &Memory{values: make(map[[2]string][]byte)} }

// Get implements [Store].
func (m *Memory) Get(_ context.Context, bucket, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[[2]string{bucket, key}], nil
}

// List implements [Store].
func (m *Memory) List(_ context.Context, bucket, after string, limit int) (page []Value, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for k := range m.values {
		if k[0] == bucket && k[1] > after {
			keys = append(keys, k[1])
		}
	}
	slices.Sort(keys)
	for _, key := range keys[:min(limit, len(keys))] {
		page = append(page, Value{key, m.values[[2]string{bucket, key}]})
	}
	return page, nil
}

// Apply implements [Store].
func (m *Memory) Apply(_ context.Context, changes ...Change) (applied bool, err error) {
	if err := CheckKeys(changes); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range changes {
		if !bytes.Equal(m.values[[2]string{c.Bucket, c.Key}], c.Old) {
			return false, nil
		}
	}
	for _, c := range changes {
		if at := [2]string{c.Bucket, c.Key}; len(c.New) == 0 {
			delete(m.values, at)
		} else {
			m.values[at] = bytes.Clone(c.New)
		}
	}
	return true, nil
}
