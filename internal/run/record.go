package run

import (
	"bytes"
	"container/list"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// A record is what the engine knows of one run, and, while its generator lives
// in this process, the worker that drives it. Whoever appends to the run's log
// holds mu, so that within the process nobody loses a race; a conflict means
// that another process wrote.
type record struct {
	engine  *Engine
	id      string
	owner   string
	photon  *generators.Photon // nil if it is not registered any more
	started log.Started
	born    time.Time

	mu    sync.Mutex
	last  uint64
	state State
	ended time.Time
	cause string // of a failure, for people
	moved time.Time
	said  string
	asks  []*openAsk
	epoch int
	spent time.Duration
	work  *worker  // nil if no generator lives here
	when  []func() // called at the next entry; see Engine.When
	// readers are the loops over the run's entries that go on.
	readers atomic.Int32
	// abandoned is set while nobody is known to come back; see Engine.Abandon.
	abandoned *abandonment
	// warmth is the run's place among those that could be let go, and touched
	// when it last did something; guarded by heat's mu, and this one.
	warmth  *list.Element
	touched time.Time
	waking  bool // it is being taken up again
	reading bool // its log is being read back
	resting bool // it could go on, but not in this process; guarded by the index's mu
	// blobs counts what names each blob of the run: uploads, and entries.
	blobs map[string]int
	// What the run has written so far: events, bytes in its log, and bytes
	// beside it.
	events int
	bytes  int64
	stored int64
}

// openAsk is a question without an answer.
type openAsk struct {
	seq   uint64
	since time.Time
	log.Asked
	call  *generators.Call // nil if no generator waits here
	timer *time.Timer      // of the deadline
}

func newRecord(e *Engine, owner string, p *generators.Photon, s log.Started) *record {
	now := time.Now()
	return &record{engine: e, id: newID(), owner: owner, photon: p, started: s, born: now, moved: now, state: Running}
}

func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// begin records the start and sets the generator going. Callers hold mu.
func (r *record) begin(ctx context.Context) (Info, error) {
	started := log.New(log.KindStarted, r.started)
	started.Time = r.born
	err := r.append(ctx, started, log.New(log.KindClaimed, log.Claimed{Epoch: 1}))
	if err != nil {
		return Info{}, err
	}
	r.launch(nil)
	return r.info(), nil
}

// repeated answers a request whose idempotency key this run has.
func (r *record) repeated(photon string, args json.RawMessage) (Info, error) {
	if r.started.Photon != photon || !bytes.Equal(r.started.Args, args) {
		return Info{}, ErrReused
	}
	r.mu.Lock() // until it has begun
	defer r.mu.Unlock()
	if r.last == 0 {
		return Info{}, errors.New("the first request with this idempotency key could not be recorded")
	}
	return r.info(), nil
}

// errOver: the run's log is closed to whoever tried to append.
var errOver = errors.New("the run is over")

// append adds entries to the log and takes in what they say. If another
// process wrote in between, it takes that in and tries again, unless the run
// is over or the ask that the entries settle was settled. Callers hold mu.
func (r *record) append(ctx context.Context, entries ...log.Entry) error {
	stored := make([]log.Entry, len(entries))
	for i, e := range entries {
		var err error
		if stored[i], err = r.spill(ctx, e); err != nil {
			return err
		}
	}
	for {
		if r.state.Ended() {
			return errOver
		}
		_, err := r.engine.log.Append(ctx, r.id, r.last, stored...)
		var conflict *log.ConflictError
		switch {
		case err == nil:
			for _, e := range entries {
				e.Seq = r.last + 1
				r.apply(e)
			}
			return nil
		case !errors.As(err, &conflict):
			return err
		}
		epoch := r.epoch
		if err := r.catchUp(ctx); err != nil {
			return err
		}
		if err := r.stillFits(entries, epoch); err != nil {
			return err
		}
	}
}

// superseded tells whether an append failed because another process has claimed
// the run, which goes on there.
func (r *record) superseded(err error) bool { return errors.Is(err, errOver) && !r.state.Ended() }

// stillFits tells whether entries still make sense after others came first:
// not a settlement of what is settled, nor the work of a worker of an older
// epoch.
func (r *record) stillFits(entries []log.Entry, epoch int) error {
	for _, e := range entries {
		switch e.Kind {
		case log.KindFinished:
			f, err := log.As[log.Finished](e)
			if err != nil {
				return err
			}
			if r.epoch > epoch && (f.Status == log.Completed || f.Status == log.Failed) {
				return errOver // the generator's own end, and it counts elsewhere now
			}
			continue
		case log.KindAnswered, log.KindWithdrawn:
		default:
			if r.epoch > epoch {
				return errOver
			}
			continue
		}
		var settles struct{ Ask uint64 }
		if err := json.Unmarshal(e.Data, &settles); err != nil {
			return err
		}
		if r.open(settles.Ask) == nil {
			return ErrSettled
		}
	}
	return nil
}

// catchUp takes in what others wrote.
func (r *record) catchUp(ctx context.Context) error {
	for batch, err := range r.engine.log.Read(ctx, r.id, r.last) {
		if err != nil {
			return err
		}
		for _, e := range batch {
			if e, err = r.engine.hydrate(r.id, e); err != nil {
				return err
			}
			r.apply(e)
		}
	}
	return nil
}

func (r *record) open(seq uint64) *openAsk {
	for _, a := range r.asks {
		if a.seq == seq {
			return a
		}
	}
	return nil
}

// info copies what lists show. Callers hold mu.
func (r *record) info() Info {
	return Info{
		ID: r.id, Photon: r.started.Photon, Title: r.started.Title, Surface: r.started.Surface,
		Durable: r.started.Durable, State: r.state, Error: r.cause, Started: r.born, Ended: r.ended,
		Last: r.last, Asks: r.openAsks(), Owner: r.owner, KeptUntil: r.keptUntil(), Moved: r.moved, Said: r.said,
	}
}

func (r *record) openAsks() []Open {
	if len(r.asks) == 0 {
		return nil
	}
	open := make([]Open, len(r.asks))
	for i, a := range r.asks {
		open[i] = r.show(a)
	}
	return open
}

func (r *record) show(a *openAsk) Open {
	return Open{
		ID: log.AskID(r.id, a.seq), Run: r.id, Photon: r.started.Photon,
		Title: r.started.Title, Since: a.since, Asked: a.Asked,
	}
}

func (r *record) snapshot() Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info()
}

func (r *record) drop(a *openAsk) {
	if a.timer != nil {
		a.timer.Stop()
	}
	r.asks = slices.DeleteFunc(r.asks, func(o *openAsk) bool { return o == a })
	r.engine.index.settled(r, a)
}
