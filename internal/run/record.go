package run

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
	"github.com/photon-beam/beam/internal/log"
)

// A record is what the engine knows of one run, and, while its generator lives
// in this process, the worker that drives it. Whoever appends to the run's log
// holds mu, so that within the process nobody loses a race; a conflict means
// that another process wrote.
type record struct {
	engine *Engine
	id     string
	photon *generators.Photon // nil if it is not registered any more
	// started is the first entry's, without the arguments, which are read from the
	// log when they are needed.
	started log.Started
	request [sha256.Size]byte // see digestOf; zero without an idempotency key
	born    time.Time         // without a monotonic reading, as the log has it: it orders lists

	// readers are the loops over the run's entries that go on.
	readers atomic.Int32

	mu     sync.Mutex
	last   uint64
	state  State
	ended  time.Time
	cause  string // of a failure, for people
	brief  *brief // nil of a run that nobody polls
	asks   []*openAsk
	epoch  int
	events int // that it has told
	spent  time.Duration
	work   *worker  // nil if no generator lives here
	when   []Waiter // woken at the next entry; see Engine.When
	doubt  *doubt   // nil if it is known what the log has
	waking bool     // it is being taken up again
	// reading is set while its log is read back; told, if it has events after
	// its last call, is only known then.
	reading, told bool
	ending        bool // its end is yet to be recorded
	refused       bool // its start was, and nothing of it is to stay
	resting       bool // it could go on, but not in this process; guarded by the index's mu
	// abandoned is set while nobody is known to come back; see Engine.Abandon.
	abandoned *abandonment
	// warmth is the run's place among those that could be let go; guarded by
	// heat's mu, and this one.
	warmth *list.Element
	bytes  int64 // in its log

	// What is beside its log; see beside.go.
	named   map[string]int // how many name each blob: uploads, and entries
	stored  int64          // bytes, of what is named
	spilled int64          // bytes that are too large for the log
}

func newRecord(e *Engine, p *generators.Photon, s log.Started) *record {
	r := &record{engine: e, id: newID()}
	r.describe(p, s, time.Now())
	return r
}

// describe takes in what the first entry says.
func (r *record) describe(p *generators.Photon, s log.Started, at time.Time) {
	if s.Idempotency != "" {
		r.request = digestOf(s)
	}
	s.Args = nil
	r.photon, r.started = p, s
	r.born, r.state, r.brief = at.Round(0), Running, briefOf(s, at)
}

func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// firstClaim is the claim of the worker that begins a run.
var firstClaim = log.New(log.KindClaimed, log.Claimed{Epoch: 1})

// begin records the start and sets the generator going. Callers hold mu.
func (r *record) begin(ctx context.Context, s log.Started) (Info, error) {
	started := log.New(log.KindStarted, s)
	started.Time = r.born
	err := r.append(ctx, started, firstClaim)
	if err != nil {
		return Info{}, err
	}
	info := r.info()
	r.launch(s.Args, nil)
	return info, nil
}

// errOver: the run's log is closed to whoever tried to append.
var errOver = errors.New("the run is over")

// append adds entries to the log and takes in what they say. If another
// process wrote in between, it takes that in and tries again, unless the run
// is over or the ask that the entries settle was settled. Callers hold mu.
func (r *record) append(ctx context.Context, entries ...log.Entry) (err error) {
	if len(entries) == 0 {
		return nil
	}
	known, epoch := r.last, r.epoch
	if err := r.clarify(ctx); err != nil {
		return err
	}
	if r.last > known {
		if err := r.stillFits(entries, epoch); err != nil {
			return err
		}
	}
	stored, err := r.spillAll(ctx, entries)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && r.doubt == nil {
			r.unspill(stored, entries)
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
			return errOver
		}
		began := time.Now()
		_, err := r.engine.log.Append(ctx, r.id, r.last, stored...)
		r.engine.meter.Appended(len(stored), time.Since(began), err)
		var conflict *log.ConflictError
		switch {
		case err == nil:
			for i, e := range entries {
				e.Seq, e.Time = r.last+1, stored[i].Time
				r.tell(e)
				r.apply(e)
			}
			return nil
		case errors.Is(err, log.ErrInDoubt):
			r.doubt = &doubt{entries: stored, given: entries}
			if r.last > 0 {
				go r.lookBack()
			}
			return err
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
	came, err := r.news(ctx)
	if err != nil {
		return err
	}
	return r.takeAll(came, 0)
}

// news are the entries that others wrote.
func (r *record) news(ctx context.Context) (came []log.Entry, err error) {
	for batch, err := range r.engine.log.Read(ctx, r.id, r.last) {
		if err != nil {
			return nil, err
		}
		came = append(came, batch...)
	}
	return came, nil
}

// takeAll takes in entries, of which the first ones are this process's own.
func (r *record) takeAll(entries []log.Entry, own int) error {
	for i, e := range entries {
		e, err := r.engine.hydrate(r.id, e)
		if err != nil {
			return err
		}
		if i < own {
			r.tell(e)
		}
		r.apply(e)
	}
	return nil
}

// info copies what lists show, without the questions. Callers hold mu.
func (r *record) info() Info {
	s := &r.started
	i := Info{
		ID: r.id, Photon: s.Photon, Title: s.Title, Surface: s.Surface,
		Durable: s.Durable, State: r.state, Started: r.born, Ended: r.ended,
		Error: r.cause, Last: r.last, Owner: r.owner(),
	}
	if b := r.brief; b != nil {
		i.Moved, i.Said = b.moved, b.said
	}
	if r.state.Ended() {
		i.KeptUntil = r.keptUntil()
	}
	return i
}

// owner is whom the run belongs to.
func (r *record) owner() string { return r.started.Owner }

// drop forgets an open question.
func (r *record) drop(a *openAsk) {
	r.asks = slices.DeleteFunc(r.asks, func(o *openAsk) bool { return o == a })
	if r.reading {
		return
	}
	r.engine.deadlines.remove(a)
	r.engine.index.settled(r, a)
}
