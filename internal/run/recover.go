package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// Recover reads the log: it takes durable runs up where they were left, and
// marks the others interrupted. Those that wait for an answer have nothing to
// do, and stay cold. A run whose log can't be read is left out, and the logger
// told. Call it once, before the engine is used.
func (e *Engine) Recover(ctx context.Context) error {
	read := make(map[string]*reading)
	defer func() {
		for _, r := range read {
			r.mu.Unlock()
		}
		go e.retain()
		go e.cool()
	}()
	for a, err := range log.Scan(ctx, e.log) {
		if err != nil {
			return err
		}
		r := read[a.Run]
		if r == nil {
			r = &reading{record: &record{engine: e, id: a.Run, state: Running, reading: true}}
			r.mu.Lock() // until all is read: no deadline may pass in the middle
			read[a.Run] = r
		}
		r.take(a.Entries)
	}
	for id, r := range read {
		r.reading = false
		err := r.err
		if err == nil {
			err = r.conclude(ctx)
		}
		if err != nil && !Passing(err) {
			e.logger.Error("a run can't be read back, and is left out", "run", id, "err", err)
			r.halt(generators.ErrSuspended) // its deadlines, too
			e.index.remove(r.record)
		}
	}
	return nil
}

// reading is a run whose log is being read back.
type reading struct {
	*record
	told int   // events after the last call
	err  error // what can't be read
}

func (r *reading) take(entries []log.Entry) {
	for _, entry := range entries {
		if r.err == nil {
			r.err = r.remember(entry)
		}
	}
}

// remember takes in one entry.
func (r *reading) remember(entry log.Entry) error {
	if err := r.rememberBlobs(entry); err != nil {
		return err
	}
	entry, err := r.engine.hydrate(r.id, entry)
	if err != nil {
		return err
	}
	switch {
	case entry.Kind == log.KindStarted:
		s, err := log.As[log.Started](entry)
		if err != nil {
			return err
		}
		r.started, r.owner, r.born = s, s.Owner, entry.Time
		r.photon, _ = r.engine.photons.Lookup(s.Photon)
		if _, err := r.engine.index.add(r.record, 0); err != nil {
			return err
		}
	case r.last == 0:
		return errors.New("its log does not begin with its start")
	case entry.Kind.IsEvent():
		r.told++
	case entry.Kind == log.KindAsked, entry.Kind == log.KindStepped:
		r.told = 0
	}
	r.apply(entry)
	return nil
}

// rememberBlobs counts what an entry names.
func (r *reading) rememberBlobs(entry log.Entry) error {
	switch {
	case entry.Blob != "":
		r.refer(entry.Blob, 0)
	case entry.Kind == "artifact":
		a, err := log.As[generators.Artifact](entry)
		if err != nil {
			return err
		}
		if a.Digest != "" {
			r.refer(a.Digest, a.Size)
		}
	case entry.Kind == log.KindAnswered:
		a, err := log.As[log.Answered](entry)
		if err != nil {
			return err
		}
		for _, f := range a.Answer.Files {
			r.refer(f.Digest, f.Size)
		}
	}
	return nil
}

// conclude does with a run that was read what is to be done.
func (r *reading) conclude(ctx context.Context) error {
	switch {
	case r.state.Ended():
	case r.photon == nil:
		return r.end(log.Finished{Status: log.Interrupted, Error: fmt.Sprintf("the photon %s is not here any more", r.started.Photon)})
	case !r.started.Durable:
		return r.end(log.Finished{Status: log.Interrupted, Error: "Beam was restarted while this was running"})
	case r.otherVersion() != nil:
		return r.end(log.Finished{Status: log.Failed, Error: r.otherVersion().Error()})
	case r.state == Waiting && r.told == 0:
		// It has nothing to do until it is answered.
	default:
		h, err := r.past(ctx)
		if err == nil {
			err = r.resume(ctx, h)
		}
		if err != nil && ctx.Err() == nil {
			r.engine.logger.Error("taking a run up again", "run", r.id, "err", err)
			r.waking = true
			go r.warm()
		}
	}
	return nil
}

// resume claims a run and replays it; h is what it did up to its last entry.
func (r *record) resume(ctx context.Context, h *history) error {
	if err := r.otherInput(); err != nil {
		return r.end(log.Finished{Status: log.Failed, Error: err.Error()})
	}
	read := r.last
	err := r.append(ctx, log.New(log.KindClaimed, log.Claimed{Epoch: r.epoch + 1}))
	if errors.Is(err, errOver) {
		return nil // another process has it
	}
	if err == nil && r.last > read+1 {
		h, err = r.past(ctx) // another process wrote before the claim
	}
	if err != nil {
		return err
	}
	r.launch(h)
	return nil
}
