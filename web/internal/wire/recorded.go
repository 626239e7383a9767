package wire

import (
	"slices"

	"github.com/photon-beam/beam/internal/recording"
)

// Describe sets what the page says of the messages that were recorded. Without a source,
// the page has those, if there are any, and otherwise those of the log.
func (p *Page) Describe(recorded []Message) {
	p.Recorded = len(recorded)
	p.HasClient = slices.ContainsFunc(recorded, func(m Message) bool { return m.Side == recording.Client })
	if len(recorded) > 0 {
		p.Dropped = int(recorded[0].Seq - 1)
	}
	if p.Source == "" {
		p.Source = Log
		if len(recorded) > 0 {
			p.Source = Wire
		}
	}
	p.Methods = Methods
	if p.Source == Wire {
		p.Methods = methodsOf(recorded)
	}
}

// methodsOf returns the methods of messages, sorted.
func methodsOf(messages []Message) (methods []string) {
	for _, m := range messages {
		if m.Method != "" {
			methods = append(methods, m.Method)
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}
