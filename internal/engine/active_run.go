package engine

import (
	"container/list"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A trackedRun is what the engine knows of one run, and, while its generator lives
// in this process, the worker that drives it. Whoever appends to the run's log
// holds mu, so that within the process nobody loses a race; a conflict means
// that another process wrote.
type trackedRun struct {
	engine *Engine
	id     string
	photon *generators.Photon // nil if it is not registered any more
	// started is the first entry's, without the arguments, which are read from the
	// log when they are needed.
	started   runlog.Started
	request   [sha256.Size]byte // see digestOf; zero without an idempotency key
	startedAt time.Time         // without a monotonic reading, as the log has it: it orders lists

	// readers are the loops over the run's entries that go on.
	readers atomic.Int32

	mu         sync.Mutex
	lastSeq    uint64
	state      State
	endedAt    time.Time
	errorText  string    // of a failure, for people
	poll       *pollInfo // nil of a run that nobody polls
	openAsks   []*openAsk
	epoch      int
	eventCount int // that it has told
	timeSpent  time.Duration
	worker     *worker          // nil if no generator lives here
	waiters    []Waiter         // woken at the next entry; see Engine.When
	uncertain  *uncertainAppend // nil if it is known what the log has
	resuming   bool             // it is being taken up again
	// loading is set while its log is read back; told, if it has events after
	// its last call, is only known then.
	loading, hasNewEvents bool
	endPending            bool // its end is yet to be recorded
	startRefused          bool // its start was, and nothing of it is to stay
	inactive              bool // it could go on, but not in this process; guarded by the index's mu
	// idleTimer is set while nobody is known to come back; see Engine.Abandon.
	idleTimer *idleTimeout
	// residencyElem is the run's place among those that could be let go; guarded by
	// heat's mu, and this one.
	residencyElem *list.Element
	logBytes      int64 // in its log

	// What is beside its log; see beside.go.
	named   map[string]int // how many name each blob: uploads, and entries
	stored  int64          // bytes, of what is named
	spilled int64          // bytes that are too large for the log
}

func newActiveRun(e *Engine, p *generators.Photon, s runlog.Started) *trackedRun {
	r := &trackedRun{engine: e, id: newRunID()}
	r.applyStarted(p, s, time.Now())
	return r
}

// applyStarted takes in what the first entry says.
func (r *trackedRun) applyStarted(p *generators.Photon, s runlog.Started, at time.Time) {
	if s.IdempotencyKey != "" {
		r.request = digestOf(s)
	}
	s.Args = nil
	r.photon, r.started = p, s
	r.startedAt, r.state, r.poll = at.Round(0), Running, newPollInfo(s, at)
}

func newRunID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// firstClaim is the claim of the worker that begins a run.
var firstClaim = runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1})

// recordStart records the start and sets the generator going. Callers hold mu.
func (r *trackedRun) recordStart(ctx context.Context, s runlog.Started) (Info, error) {
	started := runlog.NewEntry(runlog.KindStarted, s)
	started.Time = r.startedAt
	err := r.appendEntries(ctx, started, firstClaim)
	if err != nil {
		return Info{}, err
	}
	info := r.info()
	r.launchGenerator(s.Args, nil)
	return info, nil
}

// errRunOver: the run's log is closed to whoever tried to append.
var errRunOver = errors.New("the run is over")

// appendEntries adds entries to the log and takes in what they say. If another
// process wrote in between, it takes that in and tries again, unless the run
// is over or the ask that the entries settle was settled. Callers hold mu.
func (r *trackedRun) appendEntries(ctx context.Context, entries ...runlog.Entry) (err error) {
	if len(entries) == 0 {
		return nil
	}
	known, epoch := r.lastSeq, r.epoch
	if err := r.resolveUncertainAppend(ctx); err != nil {
		return err
	}
	if r.lastSeq > known {
		if err := r.checkStillApplies(entries, epoch); err != nil {
			return err
		}
	}
	stored, err := r.spillEntries(ctx, entries)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && r.uncertain == nil {
			r.undoSpill(stored, entries)
		}
	}()
	now := time.Now()
	for i := range stored { // the lists are to say what the log says
		if stored[i].Time.IsZero() {
			stored[i].Time = now
		}
	}
	for {
		if r.state.Ended() {
			return errRunOver
		}
		began := time.Now()
		_, err := r.engine.log.Append(ctx, r.id, r.lastSeq, stored...)
		r.engine.meter.EntriesAppended(len(stored), time.Since(began), err)
		var conflict *runlog.ConflictError
		switch {
		case err == nil:
			for i, e := range entries {
				e.Seq, e.Time = r.lastSeq+1, stored[i].Time
				r.observeEntry(e)
				r.applyEntry(e)
			}
			return nil
		case errors.Is(err, runlog.ErrUncertain):
			r.uncertain = &uncertainAppend{entries: stored, original: entries}
			if r.lastSeq > 0 {
				go r.resolveUncertainLater()
			}
			return err
		case !errors.As(err, &conflict):
			return err
		}
		epoch := r.epoch
		if err := r.applyMissedEntries(ctx); err != nil {
			return err
		}
		if err := r.checkStillApplies(entries, epoch); err != nil {
			return err
		}
	}
}

// isSuperseded tells whether an append failed because another process has claimed
// the run, which goes on there.
func (r *trackedRun) isSuperseded(err error) bool {
	return errors.Is(err, errRunOver) && !r.state.Ended()
}

// checkStillApplies tells whether entries still make sense after others came first:
// not a settlement of what is settled, nor the work of a worker of an older
// epoch.
func (r *trackedRun) checkStillApplies(entries []runlog.Entry, epoch int) error {
	for _, e := range entries {
		switch e.Kind {
		case runlog.KindFinished:
			f, err := runlog.Decode[runlog.Finished](e)
			if err != nil {
				return err
			}
			if r.epoch > epoch && (f.Status == runlog.Completed || f.Status == runlog.Failed) {
				return errRunOver // the generator's own end, and it counts elsewhere now
			}
			continue
		case runlog.KindAnswered, runlog.KindWithdrawn:
		default:
			if r.epoch > epoch {
				return errRunOver
			}
			continue
		}
		var settles struct{ Ask uint64 }
		if err := json.Unmarshal(e.Data, &settles); err != nil {
			return err
		}
		if r.findOpenAsk(settles.Ask) == nil {
			return ErrSettled
		}
	}
	return nil
}

// applyMissedEntries takes in what others wrote.
func (r *trackedRun) applyMissedEntries(ctx context.Context) error {
	came, err := r.readMissedEntries(ctx)
	if err != nil {
		return err
	}
	return r.applyEntries(came, 0)
}

// readMissedEntries are the entries that others wrote.
func (r *trackedRun) readMissedEntries(ctx context.Context) (came []runlog.Entry, err error) {
	for batch, err := range r.engine.log.Read(ctx, r.id, r.lastSeq) {
		if err != nil {
			return nil, err
		}
		came = append(came, batch...)
	}
	return came, nil
}

// applyEntries takes in entries, of which the first ones are this process's own.
func (r *trackedRun) applyEntries(entries []runlog.Entry, own int) error {
	for i, e := range entries {
		e, err := r.engine.loadSpilledData(r.id, e)
		if err != nil {
			return err
		}
		if i < own {
			r.observeEntry(e)
		}
		r.applyEntry(e)
	}
	return nil
}

// info copies what lists show, without the questions. Callers hold mu.
func (r *trackedRun) info() Info {
	s := &r.started
	i := Info{
		ID: r.id, Photon: s.Photon, Title: s.Title, Surface: s.Surface,
		Durable: s.Durable, State: r.state, Started: r.startedAt, Ended: r.endedAt,
		Error: r.errorText, LastSeq: r.lastSeq, Owner: r.owner(),
	}
	if b := r.poll; b != nil {
		i.StateChanged, i.LatestStatus = b.stateChangedAt, b.latestStatus
	}
	if r.state.Ended() {
		i.RetainedUntil = r.retainedUntil()
	}
	return i
}

// owner is whom the run belongs to.
func (r *trackedRun) owner() string { return r.started.Owner }

// forgetOpenAsk forgets an open question.
func (r *trackedRun) forgetOpenAsk(a *openAsk) {
	r.openAsks = slices.DeleteFunc(r.openAsks, func(o *openAsk) bool { return o == a })
	if r.loading {
		return
	}
	r.engine.deadlines.cancelExpiry(a)
	r.engine.index.removeAsk(r, a)
}
