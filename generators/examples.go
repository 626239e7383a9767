package generators

import (
	"encoding/json"
	"fmt"
	"slices"
)

// setExamples checks Options.Examples. It does nothing for a photon without a schema.
func (p *Photon) setExamples() error {
	p.options.Examples = slices.Clone(p.options.Examples)
	if p.err != nil {
		return nil
	}
	for i, example := range p.options.Examples {
		raw, err := json.Marshal(example)
		if err == nil {
			_, err = p.Check(raw)
		}
		if err != nil {
			return fmt.Errorf("its example %d: %w", i+1, err)
		}
		p.options.Examples[i] = json.RawMessage(raw)
	}
	return nil
}
