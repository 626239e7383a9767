package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
)

// Criteria say which finished runs are to go: those that any of them is against.
// One that is nil is against none.
type Criteria struct {
	OlderThan *time.Duration `json:"olderThan,omitempty"` // since their end
	Keep      *int           `json:"keep,omitempty"`      // how many stay, the newest
	MaxBytes  *int64         `json:"maxBytes,omitempty"`  // what those that stay take together
}

// A Pruned is a finished run that goes, or would.
type Pruned struct {
	ID     string    `json:"id"`
	Photon string    `json:"photon"`
	State  State     `json:"state"`
	Ended  time.Time `json:"ended"`
	Bytes  int64     `json:"bytes"` // of its log and its files, about

	promised time.Time // that it is kept until; zero if it was not
}

// choose returns those of some finished runs that are to go, oldest first.
func (c Criteria) choose(runs []Pruned, now time.Time) []Pruned {
	slices.SortFunc(runs, func(a, b Pruned) int { return b.Ended.Compare(a.Ended) })
	var gone []Pruned
	var size int64
	for i, r := range runs {
		size += r.Bytes
		old := c.OlderThan != nil && now.Sub(r.Ended) > *c.OlderThan
		if old || c.Keep != nil && i >= *c.Keep || c.MaxBytes != nil && size > *c.MaxBytes {
			gone = append(gone, r)
		}
	}
	slices.Reverse(gone)
	return gone
}

// Prune deletes finished runs, their logs and their files, and returns them;
// dry, it only returns them. What somebody reads at the moment stays, and what
// its caller was promised to find; see [Request.Keep] and [Engine.Promise]. A
// run that has not ended is never deleted. The error is ErrHeld, or the file
// system's.
func (e *Engine) Prune(c Criteria, dry bool) ([]Pruned, error) {
	if e.keys.isHeld() {
		return nil, ErrHeld
	}
	e.deleting.Lock()
	defer e.deleting.Unlock()
	var ended []Pruned
	records := make(map[string]*record)
	for _, r := range e.index.over() {
		p, ok, err := r.prunable()
		if err != nil {
			return nil, err
		}
		if ok && r.readers.Load() == 0 {
			ended, records[p.ID] = append(ended, p), r
		}
	}
	chosen := c.choose(ended, time.Now())
	if dry {
		return chosen, nil
	}
	var gone []Pruned
	for _, p := range chosen {
		if records[p.ID].readers.Load() > 0 {
			continue
		}
		if err := e.delete(records[p.ID]); err != nil {
			return gone, err
		}
		gone = append(gone, p)
	}
	return gone, nil
}

// prunable describes a run that has ended.
func (r *record) prunable() (p Pruned, ended bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state.Ended() || r.brief != nil && time.Now().Before(r.keptUntil()) {
		return p, false, nil
	}
	size, err := r.size()
	return Pruned{ID: r.id, Photon: r.started.Photon, State: r.state, Ended: r.ended, Bytes: size}, true, err
}

// size is how many bytes the run's log and files take, about. Callers hold mu.
func (r *record) size() (int64, error) {
	own := r.bytes - r.spilled
	if len(r.named) == 0 {
		return own, nil
	}
	n, err := r.engine.blobs.Size(r.id)
	return own + n, err
}

// PruneLog is [Engine.Prune] where no engine runs: nothing may be using the log.
// keys is the folder of the runs' keys. Of promises, it knows those that the log
// has.
func PruneLog(ctx context.Context, l log.Log, blobs *blob.Store, keys string, c Criteria, dry bool) ([]Pruned, error) {
	ended, err := endedIn(ctx, l)
	if err != nil {
		return nil, err
	}
	for i, r := range ended {
		n, err := blobs.Size(r.ID)
		if err != nil {
			return nil, err
		}
		ended[i].Bytes += n
	}
	now := time.Now()
	ended = slices.DeleteFunc(ended, func(r Pruned) bool { return now.Before(r.promised) })
	gone := c.choose(ended, now)
	if dry {
		return gone, nil
	}
	ring := keyring{dir: keys}
	for i, r := range gone {
		if err := l.Delete(ctx, r.ID); err != nil {
			return gone[:i], err
		}
		if err := errors.Join(blobs.Delete(r.ID), ring.forget(r.ID)); err != nil {
			return gone[:i+1], err
		}
	}
	return gone, nil
}

// endedIn reads a log's finished runs.
func endedIn(ctx context.Context, l log.Log) ([]Pruned, error) {
	open := make(map[string]*Pruned)
	var ended []Pruned
	for a, err := range log.Scan(ctx, l) {
		if err != nil {
			return nil, err
		}
		r := open[a.Run]
		if r == nil {
			r = &Pruned{ID: a.Run}
			open[a.Run] = r
		}
		for _, entry := range a.Entries {
			r.Bytes += int64(len(entry.Data))
			if err := r.take(entry); err != nil {
				return nil, err
			}
		}
		if !r.Ended.IsZero() {
			ended = append(ended, *r)
			delete(open, a.Run)
		}
	}
	return ended, nil
}

func (p *Pruned) take(e log.Entry) error {
	switch {
	case e.Kind == log.KindStarted && e.Blob == "":
		s, err := log.As[log.Started](e)
		p.Photon = s.Photon
		if s.Keep > 0 {
			p.promised = e.Time.Add(time.Duration(s.Keep))
		}
		return err
	case e.Kind == log.KindFinished && e.Blob == "":
		f, err := log.As[log.Finished](e)
		p.State, p.Ended = State(f.Status), e.Time
		return err
	case e.Kind == log.KindFinished: // its result is large, so it has one
		p.State, p.Ended = Completed, e.Time
	}
	return nil
}
