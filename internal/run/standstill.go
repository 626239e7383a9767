package run

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/log"
)

// A worker whose events can't be recorded now, because the disk is full or the
// log is being mended, stands still until they can: its generator waits in
// yield. What it is about to record is in its batch, and nowhere else.

// anew is how long it takes until what could not be recorded is tried again.
const anew = time.Second

// Passing tells whether what could not be recorded may be later.
func Passing(err error) bool {
	return errors.Is(err, log.ErrFull) || errors.Is(err, log.ErrUnavailable) || errors.Is(err, log.ErrInDoubt)
}

// put appends what waits in the batch, and entries after it, however long the
// log can't take them. The error is errOver if the worker was let go meanwhile.
// Callers hold mu, which others may have had when put returns.
func (w *worker) put(entries ...log.Entry) error {
	w.batch.entries = append(w.batch.entries, entries...)
	return w.insist(func() error { return w.flush(w.engine.ctx) })
}

// insist tries something until it succeeds, or fails for good. Callers hold mu,
// which is free while it waits.
func (w *worker) insist(try func() error) error {
	err := try()
	if !Passing(err) {
		return err
	}
	w.standStill(+1, err)
	defer w.standStill(-1, nil)
	for Passing(err) {
		since := time.Now()
		if !w.pause(anew) {
			return errOver
		}
		w.postpone(time.Since(since))
		err = try()
	}
	return err
}

// standStill counts who waits: a run's own time stands still meanwhile. Callers
// hold mu.
func (w *worker) standStill(n int, err error) {
	if w.gone == nil {
		w.gone = make(chan struct{})
	}
	w.still += n
	w.clock()
	w.warmed()
	w.engine.still.count(w.engine, n, err)
}

// pause waits for a while. It returns false if the worker was let go meanwhile.
func (w *worker) pause(d time.Duration) bool {
	if w.work != w {
		return false
	}
	w.mu.Unlock()
	t := time.NewTimer(d)
	select {
	case <-t.C:
	case <-w.gone:
	}
	t.Stop()
	w.mu.Lock()
	return w.work == w
}

// postpone moves the deadlines of questions that nobody has seen yet. What may
// be in the log already stays as it is.
func (w *worker) postpone(d time.Duration) {
	if w.doubt != nil {
		return
	}
	for i, e := range w.batch.entries {
		if a, err := log.As[log.Asked](e); e.Kind == log.KindAsked && err == nil && !a.Deadline.IsZero() {
			a.Deadline = a.Deadline.Add(d)
			w.batch.entries[i] = log.New(log.KindAsked, a)
		}
	}
}

// unask takes out of the batch the questions that nobody has seen, and that
// nobody will: the run ends.
func (w *worker) unask() {
	w.batch.entries = slices.DeleteFunc(w.batch.entries, func(e log.Entry) bool { return e.Kind == log.KindAsked })
}

// standstill counts the workers that stand still.
type standstill struct {
	mu    sync.Mutex
	n     int
	since time.Time
}

// count says when the first one stands still, and when the last one goes on.
func (s *standstill) count(e *Engine, n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.n
	s.n += n
	switch {
	case before == 0:
		s.since = time.Now()
		e.logger.Error("runs stand still: what they do can't be recorded now", "err", err)
	case s.n == 0:
		e.logger.Info("no run stands still any more", "after", time.Since(s.since).Round(time.Millisecond))
	}
}

// endLater records the end of a run as soon as that is possible. Its generator
// is gone. If the engine closes before, the next process takes the run up, or
// marks it interrupted. Callers hold mu.
func (r *record) endLater(f log.Finished) {
	if !r.ending {
		r.ending = true
		go func() {
			r.later(func() error { return r.tryEnd(f) })
			r.mu.Lock()
			defer r.mu.Unlock()
			r.ending = false       // if that failed for good, it can be wanted again
			r.engine.index.rest(r) // whether it has ended or not, it works no more
		}()
	}
}

// unstart makes sure that nothing is left of a run whose start was refused, but
// may have been recorded. Until then its idempotency key is taken.
func (r *record) unstart() {
	r.later(func() error {
		ctx := r.engine.ctx
		if err := r.clarify(ctx); err != nil {
			return err
		}
		if !r.engine.deleting.TryLock() {
			return fmt.Errorf("%w: %w", log.ErrUnavailable, ErrHeld)
		}
		defer r.engine.deleting.Unlock()
		if err := r.engine.log.Delete(ctx, r.id); err != nil {
			return err
		}
		r.engine.index.remove(r)
		return r.engine.blobs.Delete(r.id)
	})
}

// lookBack clarifies what became of an append, if nobody else does.
func (r *record) lookBack() {
	r.later(func() error { return r.clarify(r.engine.ctx) })
}

// later tries something until it succeeds or fails for good, or the engine
// closes.
func (r *record) later(try func() error) {
	for {
		select {
		case <-r.engine.closing:
			return
		case <-time.After(anew):
		}
		r.mu.Lock()
		err := try()
		r.mu.Unlock()
		switch {
		case err == nil, errors.Is(err, errOver):
			return
		case !Passing(err):
			r.engine.logger.Error("recording what could not be recorded before", "run", r.id, "err", err)
			return
		}
	}
}
