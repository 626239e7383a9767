package engine

import (
	"bytes"
	"errors"
	"io"

	"github.com/photon-beam/beam/internal/budget"
)

// Budgets returns the budgets that the engine keeps, for metrics.
func (e *Engine) Budgets() []*budget.Budget {
	return []*budget.Budget{e.residents.working, e.uploads, e.disk}
}

// storeBytes puts content in the blob store, whose disk the run's owner must have left.
// The error may be a [*budget.ExceededError]. Callers count the blob with addBlobBytes.
func (r *trackedRun) storeBytes(content []byte) (digest string, size int64, err error) {
	n := int64(len(content))
	if err := r.engine.disk.Take(r.owner(), n); err != nil {
		return "", 0, err
	}
	defer r.engine.disk.Add(r.owner(), -n) // addBlobBytes counts it
	return r.engine.blobs.Put(r.engine.ctx, r.id, bytes.NewReader(content))
}

// A diskReader takes disk of an owner's budget for what is read, before it is read.
type diskReader struct {
	io.Reader
	disk        *budget.Budget
	owner       string
	taken, read int64
}

// diskStep is how many bytes a diskReader takes at once.
const diskStep = 1 << 20

// Read implements [io.Reader]. The error may be a [*budget.ExceededError].
func (d *diskReader) Read(p []byte) (int, error) {
	if d.read+int64(len(p)) > d.taken {
		step := max(diskStep, int64(len(p)))
		if err := d.disk.Take(d.owner, step); err != nil {
			return 0, err
		}
		d.taken += step
	}
	n, err := d.Reader.Read(p)
	d.read += int64(n)
	return n, err
}

// release returns what was taken: what was stored is counted with the run.
func (d *diskReader) release() { d.disk.Add(d.owner, -d.taken) }

// asToolError returns an exceeded budget as an error of the tool, which ends the run.
func asToolError(err error) error {
	var exceeded *budget.ExceededError
	if errors.As(err, &exceeded) {
		return &toolError{exceeded.Error()}
	}
	return err
}
