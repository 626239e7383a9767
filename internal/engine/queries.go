package engine

import (
	"github.com/photon-beam/beam/generators"
)

// Info returns one run, with its open questions. The error is [ErrRunNotFound],
// [ErrForbidden], or the log's.
func (x reader) Info(caller generators.Caller, id string) (Info, error) {
	r, err := x.findRun(caller, id)
	if err != nil {
		return Info{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	info := r.info()
	for _, a := range r.Asks {
		o, err := x.describeOpen(x.generatorCtx, r, a, caller)
		if err != nil {
			return info, err
		}
		info.Asks = append(info.Asks, o)
	}
	return info, nil
}
