package upstream

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// The number of errors and lines of stderr that are kept, and their size in bytes.
const (
	maxEvents    = 50
	maxEventText = 500
)

// events are what an operator reads of an upstream. The methods may be called concurrently.
type events struct {
	server *config.Server
	logger *slog.Logger

	mu     sync.Mutex
	errors []Event // the latest
	stderr []Event // the latest lines
}

// latest returns the latest events.
func (es *events) latest() (errors, stderr []Event) {
	es.mu.Lock()
	defer es.mu.Unlock()
	return append([]Event{}, es.errors...), append([]Event{}, es.stderr...)
}

// recordError keeps an error for the operator.
func (es *events) recordError(err error) { es.recordFault(err.Error()) }

// recordFault keeps what the upstream did wrong.
func (es *events) recordFault(text string) { es.add(&es.errors, text) }

// recordStderr keeps a line of stderr, and logs it.
func (es *events) recordStderr(line string) {
	es.add(&es.stderr, line)
	es.logger.Info("stderr of an upstream", "upstream", es.server.Name, "line", es.clean(line))
}

// add adds to a list of the latest events.
func (es *events) add(to *[]Event, text string) {
	text = es.clean(text)
	es.mu.Lock()
	defer es.mu.Unlock()
	if len(*to) >= maxEvents {
		*to = (*to)[1:]
	}
	*to = append(*to, Event{Time: time.Now(), Text: text})
}

// clean returns a text of the upstream as one short line, without the secrets of its
// configuration.
func (es *events) clean(text string) string {
	for _, secret := range es.server.Secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return policy.CleanLine(text, maxEventText)
}
