package run

import (
	"encoding/json"
	"sync"

	"github.com/photon-beam/beam/internal/log"
)

// A memo has some of the questions that only the log has otherwise, those that
// were seen last: pages show the same ones again and again.
type memo struct {
	mu           sync.Mutex
	newer, older map[*openAsk]*log.Asked
}

// memoSize is when a memo forgets its older half, and memoMost how large the
// questions are that it has, in bytes as JSON.
const (
	memoSize = 256
	memoMost = 8 << 10
)

func (m *memo) get(a *openAsk) *log.Asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := m.newer[a]
	if asked == nil {
		if asked = m.older[a]; asked != nil {
			m.put(a, asked)
		}
	}
	return asked
}

func (m *memo) add(a *openAsk, asked log.Asked) {
	if raw, err := json.Marshal(asked); err != nil || len(raw) > memoMost {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(a, &asked)
}

// put: callers hold mu.
func (m *memo) put(a *openAsk, asked *log.Asked) {
	if m.newer == nil || len(m.newer) >= memoSize {
		m.newer, m.older = make(map[*openAsk]*log.Asked), m.newer
	}
	m.newer[a] = asked
}

func (m *memo) forget(a *openAsk) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.newer, a)
	delete(m.older, a)
}
