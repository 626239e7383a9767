package files

import (
	"context"
	"io"
	"sync"

	"github.com/photon-beam/beam/internal/budget"
)

// uploads counts how often each file was uploaded to a run that hasn't ended, so that none is
// deleted that somebody else has uploaded, too. The zero value has none.
type uploads struct {
	mu    sync.Mutex
	count map[string]map[string]int // by run and digest
}

// add adds n to the count of a file.
func (u *uploads) add(run, digest string, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.count == nil {
		u.count = make(map[string]map[string]int)
	}
	if u.count[run] == nil {
		u.count[run] = make(map[string]int)
	}
	u.count[run][digest] += n
}

// has reports whether a file has been uploaded.
func (u *uploads) has(run, digest string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.count[run][digest] > 0
}

// ForgetUploads forgets the uploads of a run, which has ended.
func (f *Files) ForgetUploads(run string) {
	f.uploads.mu.Lock()
	defer f.uploads.mu.Unlock()
	delete(f.uploads.count, run)
}

// Upload stores at most limit bytes and one more for a run of an owner. The error may be a
// [*budget.ExceededError]. The caller then calls [OfRun.AddUpload].
func (f *Files) Upload(ctx context.Context, run, owner string, content io.Reader, limit int64) (digest string, size int64, err error) {
	source := &diskReader{Reader: io.LimitReader(content, limit+1), disk: f.disk, owner: owner}
	defer source.release()
	if digest, size, err = f.blobs.Put(ctx, run, source); err == nil {
		f.uploads.add(run, digest, 1)
	}
	return digest, size, err
}

// AddUpload counts a file that was uploaded.
func (r *OfRun) AddUpload(size int64) { r.add(size) }

// RemoveUpload removes a file that was uploaded, unless somebody else has uploaded it, too.
func (r *OfRun) RemoveUpload(digest string, size int64) error {
	r.files.uploads.add(r.run, digest, -1)
	return r.Remove(digest, size)
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
