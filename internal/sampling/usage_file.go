package sampling

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// saveInterval is how long changes of the usage are collected before they are written. What
// is counted in that time is lost if the process is killed.
const saveInterval = 5 * time.Second

// maxUsageFile is the size of the largest file that is read, in bytes.
const maxUsageFile = 32 << 20

// A usageFile keeps the usage over a restart. Without a path, it keeps nothing.
type usageFile struct {
	path  string
	since time.Time // when counting began
	saves sync.Mutex
	timer *time.Timer // pending; guarded by the service's mu
}

// savedUsage is the content of the file.
type savedUsage struct {
	Since time.Time    `json:"since"`
	Usage []ownerUsage `json:"usage"`
}

type ownerUsage struct {
	Owner string `json:"owner"`
	Usage
}

// load reads what was counted before. A file that can't be read is an error, and counting
// begins anew.
func (f *usageFile) load(s *Service) error {
	f.since = time.Now()
	if f.path == "" {
		return nil
	}
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var saved savedUsage
	if err := json.NewDecoder(io.LimitReader(file, maxUsageFile)).Decode(&saved); err != nil {
		return err
	}
	f.since = saved.Since
	for _, u := range saved.Usage {
		if counted := s.usageOf(usageKey{u.Owner, u.Tool, u.Model}); counted != nil {
			*counted = u.Usage
		}
	}
	return nil
}

// changed writes the usage a while later. Callers hold the service's mu.
func (f *usageFile) changed(s *Service) {
	if f.path == "" || f.timer != nil {
		return
	}
	f.timer = time.AfterFunc(saveInterval, func() { f.save(s) })
}

// save writes the usage, if it has changed since it was written.
func (f *usageFile) save(s *Service) {
	f.saves.Lock()
	defer f.saves.Unlock()
	s.mu.Lock()
	if f.timer == nil {
		s.mu.Unlock()
		return
	}
	f.timer.Stop()
	f.timer = nil
	saved := savedUsage{Since: f.since}
	for key, u := range s.usage {
		saved.Usage = append(saved.Usage, ownerUsage{key.owner, *u})
	}
	s.mu.Unlock()
	raw, err := json.Marshal(saved)
	if err == nil {
		err = atomicfile.Write(f.path, raw)
	}
	if err != nil {
		s.logger.Error("writing the usage of models", "err", err)
	}
}

// UsageSince returns when counting began.
func (s *Service) UsageSince() time.Time { return s.usageFile.since }
