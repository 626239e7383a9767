package engine

import (
	"context"

	"github.com/photon-beam/beam/generators"
)

// Info returns one run, with its open questions. The error is [ErrRunNotFound],
// [ErrForbidden], or the log's.
func (e *Engine) Info(caller generators.Caller, id string) (Info, error) {
	r, err := e.findRun(caller, id)
	if err != nil {
		return Info{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	info := r.info()
	info.Asks, err = r.buildOpenAsks(e.generatorCtx, caller)
	return info, err
}

// Exists reports whether a run exists, whoever may use it.
func (e *Engine) Exists(id string) bool {
	if e.residents.find(id) != nil {
		return true
	}
	_, err := e.rows.Row(context.Background(), id)
	return err == nil
}
