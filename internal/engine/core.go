package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/singleflight"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/evict"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/rehearsal"
	"github.com/photon-beam/beam/internal/engine/retention"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/engine/watch"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runaddress"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// A core is what runs and the engine's methods share: the log with its rows and files, what
// decides about runs, and who is told of their changes. Its methods may be called from several
// goroutines.
type core struct {
	photons    *registry.Registry
	log        runlog.Log
	rows       runlist.Rows
	files      *files.Files
	keys       *keyring.Keyring
	messages   *recording.Recorder
	program    func() string
	runURL     func(run string) string // nil if it isn't known
	policy     asking.Policy
	limits     Limits
	ephemeral  bool
	skipSleeps bool
	readsOnly  bool                                              // see [Options]
	share      *sharing.Share                                    // nil if no other process has the log
	supervisor Supervisor                                        // nil if there is none
	people     func(qualifies func(generators.Caller) bool) bool // nil if anybody may sign in
	audit      *audit.Log                                        // nil for none
	logger     *slog.Logger
	meter      Meter
	tracer     Tracer
	onSample   func(askID string) // see OnSample
	onAsk      func(askID string) // see OnAsk

	residents     *residents
	checks        singleflight.Group // by run; see ensureChecked
	rehearsals    *rehearsal.Program
	slowPhotons   sync.Map // the names of those whose runs lists don't check; see checkListed
	exclusive     *exclusive.Runs
	evictor       *evict.Evictor
	keeper        *retention.Keeper
	deadlines     *schedule.Deadlines
	retries       schedule.Retries
	stalledWrites stalledWrites
	watchers      watch.Watchers
	followers     atomic.Int64 // streams, pages and calls
	unkept        files.Unkept
	disk, uploads *budget.Budget // bytes of files; uploads in progress
	workers       sync.WaitGroup

	ctx          context.Context // of the engine's own operations
	acceptCtx    context.Context // ends when the engine no longer accepts runs
	generatorCtx context.Context // parent of all generators' contexts; never ends, because each run is stopped individually
}

func newCore(o Options) *core {
	c := &core{
		photons: o.Photons, log: o.Log, rows: o.Rows, keys: o.Keys, program: o.Program, runURL: o.RunURL,
		readsOnly: o.ReadsOnly, share: sharing.New(o.Replica), policy: o.Policy, limits: o.Limits.withDefaults(), ephemeral: o.Ephemeral, skipSleeps: o.SkipSleeps,
		supervisor: o.Supervisor, people: o.People, audit: o.Audit, logger: o.Logger, meter: o.Meter, tracer: o.Tracer,
		generatorCtx: context.Background(),
	}
	if c.keys == nil {
		c.keys = keyring.New(o.KeyDir)
	}
	if s, ok := o.Log.(runlist.Store); ok && c.rows == nil {
		c.rows = s
	}
	if c.rows == nil {
		m := runlist.NewMemory(o.Log, files.Loader(o.Blobs))
		c.log, c.rows = m, m
	}
	if c.program == nil {
		c.program = func() string { return "" }
	}
	if c.meter == nil {
		c.meter = noopMeter{}
	}
	if c.tracer == nil {
		c.tracer = noopTracer{}
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	if o.Root != "" {
		c.generatorCtx = driver.WithRoot(c.generatorCtx, o.Root)
	}
	var recordings recording.Store // none, if nothing is to be on disk
	if !o.Ephemeral {
		recordings = o.Blobs
	}
	c.messages = recording.NewRecorder(recordings, c.Exists, c.logger)
	c.uploads, c.disk = budget.New(budget.Uploads, c.limits.Uploads), budget.New(budget.Disk, c.limits.Disk)
	c.files = files.New(o.Blobs, c.log, c.disk, c.logger)
	c.residents = newResidents(budget.New(budget.Working, c.limits.Working))
	c.exclusive = exclusive.New(c.rows, c.startIfFirst, c.logger)
	c.rehearsals = &rehearsal.Program{
		Photons: c.photons, Digest: c.program, Withdrawn: withdrawnReply, Go: c.workers.Go,
		Context: func(run string, startedBy generators.Caller) context.Context {
			return c.generatorContext(run, startedBy, nil)
		},
	}
	c.evictor = evict.New(c.limits.EvictAfter, c.limits.MaxResident)
	due := func() iter.Seq2[*runlist.Row, error] { return pages.Each(c.rows.Due, (*runlist.Row).Due) }
	c.deadlines = schedule.NewDeadlines(due, questions{c}.handleDeadlines, c.logger)
	c.deadlines.Shared = c.share != nil
	return c
}

// load returns a run, from its row if it isn't in memory. The error is [ErrRunNotFound], or
// that of reading the row.
func (c *core) load(id string) (*trackedRun, error) {
	r := c.residents.find(id)
	if r == nil {
		// While a row is being read, nobody else has the run, so that nobody here appends to it.
		loaded, err, _ := c.residents.loads.Do(id, func() (any, error) { return c.loadRow(id) })
		if err != nil {
			return nil, err
		}
		r = loaded.(*trackedRun)
	}
	if c.share != nil {
		if err := c.update(r); err != nil {
			return nil, err
		}
	}
	if r.lost.Load() {
		r.endLost()
	}
	return r, nil
}

// update brings a run up to date with what other processes have appended. The error is
// [ErrRunNotFound] if one has deleted it. It takes mu.
func (c *core) update(r *trackedRun) error {
	heads, err := c.share.Heads(c.generatorCtx, []string{r.id})
	if err != nil {
		return err
	}
	last, found := heads[r.id]
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.catchUp(last, found); err != nil {
		return err
	}
	if r.removed {
		return ErrRunNotFound
	}
	if r.Last > 0 && r.worker == nil && !r.endPending && c.share.IsElsewhere(r.Worker) && r.isLost() {
		r.lost.Store(true) // the process that held it is gone
	}
	return nil
}

func (c *core) loadRow(id string) (*trackedRun, error) {
	if r := c.residents.find(id); r != nil {
		return r, nil // it was loaded a moment ago
	}
	row, err := c.rows.Row(context.Background(), id)
	switch {
	case errors.Is(err, runlog.ErrNotFound):
		return nil, ErrRunNotFound
	case err != nil:
		return nil, err
	}
	r := c.newLoadedRun(row)
	c.residents.mu.Lock()
	c.residents.insert(r)
	c.residents.mu.Unlock()
	return r, nil
}

// newLoadedRun returns a run as its row describes it.
func (c *core) newLoadedRun(row *runlist.Row) *trackedRun {
	r := newRun(c, row.ID, row.Run.Clone())
	r.photon, _ = c.photons.Lookup(r.Start.Photon)
	r.clock.spent = r.TimeSpent
	r.adopter.Store(r.Adopter)
	r.lost.Store(r.isLost())
	r.ended.Store(r.State.Ended())
	r.inactive = !r.State.Ended() && (r.Queued || r.photon == nil || r.State == Running || r.State == Parked)
	return r
}

// findRun returns a run if caller may access it. The error is [ErrRunNotFound],
// [ErrForbidden], or that of reading its row.
func (c *core) findRun(caller generators.Caller, id string) (*trackedRun, error) {
	r, err := c.load(id)
	if err != nil {
		return nil, err
	}
	if !r.isUsableBy(caller) {
		return nil, ErrForbidden
	}
	return r, nil
}

// findAsk returns the run of a question, and the question's ordinal there, if the caller
// may use the run, or answer the question.
func (c *core) findAsk(ctx context.Context, caller generators.Caller, askID string) (*trackedRun, uint64, error) {
	id, seq, ok := runlog.SplitAskID(askID)
	if !ok {
		return nil, 0, ErrAskNotFound
	}
	r, err := c.load(id)
	switch {
	case errors.Is(err, ErrRunNotFound):
		return nil, 0, ErrAskNotFound
	case err != nil:
		return nil, 0, err
	case !r.isUsableBy(caller) && !questions{c}.isAddressedTo(ctx, r, caller, seq):
		return nil, 0, ErrForbidden
	}
	return r, seq, nil
}

// ownerOf returns the id of a run's owner.
func (c *core) ownerOf(run string) (string, error) {
	row, err := c.rows.Row(context.Background(), run)
	if err != nil {
		return "", err
	}
	return row.Owner(), nil
}

// Exists reports whether a run exists, whoever may use it.
func (c *core) Exists(id string) bool {
	if c.residents.find(id) != nil {
		return true
	}
	_, err := c.rows.Row(context.Background(), id)
	return err == nil
}

// startIfFirst starts a queued run whose turn it is.
func (c *core) startIfFirst(run string) {
	r, err := c.load(run)
	if err != nil {
		c.logger.Error("starting the next run with a key", "run", run, "err", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Queued && r.canResume() {
		resumer{r.core}.queue(r)
	}
}

// notifyAudience notifies the watchers of those who may answer a question that says so.
func (c *core) notifyAudience(a runlist.Ask) {
	if a.Audience != nil {
		c.watchers.NotifyWhom(func(caller generators.Caller) bool { return admits(a, caller) })
	}
}

// admits reports whether a caller may answer a question.
func admits(a runlist.Ask, c generators.Caller) bool {
	return a.Audience.Admits(c, audience.Starter(a.Run.Start.StartedBy()), usableBy(c, a.Run.Owner()))
}

// usableBy reports whether a caller may see, answer and stop a run of an owner.
func usableBy(c generators.Caller, owner string) bool {
	return c.ID != "" && (c.ID == owner || usesAllRuns(c))
}

// usesAllRuns reports whether a caller sees, answers and stops the runs of all
// owners.
func usesAllRuns(c generators.Caller) bool { return c.ID != "" && c.HasRole(generators.RoleOperator) }

// ownedBy returns the owner whose runs a caller lists; empty for all.
func ownedBy(c generators.Caller) string {
	if usesAllRuns(c) {
		return ""
	}
	return c.ID
}

// nameOfOwner returns what people call the owner of a run.
func nameOfOwner(started runlog.Started, adopter *generators.Caller) string {
	c := adopter
	if c == nil {
		c = started.Caller
	}
	if c == nil {
		return callers.Describe(started.Owner, "")
	}
	return callers.Describe(c.ID, c.Name)
}

// supervisorOf returns what decides about a photon; nil if nothing does.
func (c *core) supervisorOf(p *generators.Photon) Supervisor {
	if c.supervisor == nil || p == nil || p.Options().Definition == nil {
		return nil
	}
	return c.supervisor
}

// recordedArguments returns what the log keeps of a run's arguments.
func (c *core) recordedArguments(p *generators.Photon, args json.RawMessage) json.RawMessage {
	if s := c.supervisorOf(p); s != nil {
		return s.RecordedArguments(p, args)
	}
	return args
}

// askPolicy returns what the runs of a photon may ask.
func (c *core) askPolicy(p *generators.Photon) asking.Policy {
	policy := c.policy
	if s := c.supervisorOf(p); s != nil {
		policy.AllowSecrets = s.AdmitsSecrets(p)
	}
	return policy
}

// generatorContext returns the context of a run's generator. The client may be nil.
func (c *core) generatorContext(run string, caller generators.Caller, client *clientsession.Client) context.Context {
	ctx := clientsession.With(driver.WithCaller(c.generatorCtx, caller), client)
	if f := c.runURL; f != nil {
		ctx = runaddress.With(ctx, func() string { return f(run) })
	}
	return ctx
}
