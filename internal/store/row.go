package store

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A run is a row and its number.
type run struct {
	runlist.Row
	num int64
}

// apply applies the next entry as far as possible.
func (r *run) apply(e runlog.Entry) {
	_, _ = r.Apply(e) // the log holds whatever was appended
}

// A folded run is the part of a row that is in no column of its own, as JSON.
type folded struct {
	Start        foldedStart                  `json:"s"`
	Owner        string                       `json:"o,omitempty"` // who started the run, if that isn't the owner
	Adopter      *generators.Caller           `json:"by,omitempty"`
	Events       int                          `json:"n,omitempty"`
	Reason       runlog.UnansweredReason      `json:"why,omitempty"`
	Error        string                       `json:"err,omitempty"`
	Asks         []foldedAsk                  `json:"a,omitempty"`
	Sleeps       []foldedSleep                `json:"z,omitempty"`
	TimeSpent    time.Duration                `json:"t,omitempty"`
	HasNewEvents bool                         `json:"e,omitempty"`
	Repeated     map[string]uint64            `json:"r,omitempty"`
	Attempts     map[string]*runstate.Attempt `json:"at,omitempty"`
	Program      string                       `json:"p,omitempty"`
	Worker       string                       `json:"w,omitempty"`
	Parked       *runlog.Parked               `json:"pk,omitempty"`
	ChangedAt    moment                       `json:"c,omitzero"` // if that isn't the start
	Status       string                       `json:"l,omitempty"`
	End          *runlog.Finished             `json:"f,omitempty"`
}

// foldedStart is a [runlog.Started], to which it is converted, so that the compiler says when a
// field is new.
type foldedStart struct {
	Photon         string             `json:"-"`
	Title          string             `json:"t,omitempty"`
	Durable        bool               `json:"d,omitempty"`
	Version        string             `json:"v,omitempty"`
	Owner          string             `json:"-"`
	Caller         *generators.Caller `json:"c,omitempty"`
	Surface        string             `json:"u,omitempty"`
	Samples        bool               `json:"s,omitempty"`
	Args           json.RawMessage    `json:"-"`
	IdempotencyKey string             `json:"i,omitempty"`
	Exclusive      string             `json:"-"`
	Trace          *runlog.Trace      `json:"w,omitempty"`
	ReplayOf       string             `json:"r,omitempty"`
	Fork           *runlog.Fork       `json:"f,omitempty"`
	RetainFor      askdata.Millis     `json:"k,omitempty"`
}

// foldedAsk is a [runstate.Ask].
type foldedAsk struct {
	Seq      uint64             `json:"s"`
	AskedAt  moment             `json:"a"`
	Deadline moment             `json:"d,omitzero"`
	Audience *audience.Audience `json:"w,omitempty"`
	Call     int                `json:"c,omitempty"`
	Calling  bool               `json:"g,omitempty"`
	Version  uint64             `json:"v,omitempty"`
	Revised  string             `json:"m,omitempty"`
}

// foldedSleep is a [runstate.Sleep].
type foldedSleep struct {
	Seq   uint64 `json:"s"`
	Until moment `json:"u"`
}

// A moment is a time whose JSON is its nanoseconds since 1970, or text if that is too far
// away.
type moment struct{ time.Time }

func (m moment) MarshalJSON() ([]byte, error) {
	if n := toNanos(m.Time); n != math.MaxInt64 && n != math.MinInt64 {
		return strconv.AppendInt(nil, n, 10), nil
	}
	return m.Time.UTC().MarshalJSON()
}

func (m *moment) UnmarshalJSON(raw []byte) error {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		m.Time = time.Unix(0, n)
		return nil
	}
	return m.Time.UnmarshalJSON(raw)
}

// fold returns the JSON of what is in no column.
func (r *run) fold() ([]byte, error) {
	f := folded{
		Start: foldedStart(r.Start), Adopter: r.Adopter, Events: r.Events, Reason: r.Reason, Error: r.Error,
		TimeSpent: r.TimeSpent, HasNewEvents: r.HasNewEvents, Repeated: r.Repeated, Attempts: r.Attempts,
		Program: r.Program, Worker: r.Worker, Parked: r.Parked, Status: r.Status, End: r.End,
	}
	if !r.ChangedAt.Equal(r.StartedAt) {
		f.ChangedAt = moment{r.ChangedAt}
	}
	if r.Adopter != nil {
		f.Owner = r.Start.Owner
	}
	for _, a := range r.Asks {
		f.Asks = append(f.Asks, foldedAsk{a.Seq, moment{a.AskedAt}, moment{a.Deadline}, a.Audience, a.Call, a.Calling, a.Version, a.Revised})
	}
	for _, s := range r.Sleeps {
		f.Sleeps = append(f.Sleeps, foldedSleep{s.Seq, moment{s.Until}})
	}
	return json.Marshal(f)
}

// unfold sets what is in no column.
func (r *run) unfold(raw []byte) error {
	var f folded
	if err := json.Unmarshal(raw, &f); err != nil {
		return fmt.Errorf("%w: the row of run %s: %w", runlog.ErrCorrupt, r.ID, err)
	}
	f.Start.Photon, f.Start.Owner, f.Start.Exclusive = r.Start.Photon, r.Start.Owner, r.Start.Exclusive
	r.Start, r.Adopter, r.Events, r.Reason, r.Error = runlog.Started(f.Start), f.Adopter, f.Events, f.Reason, f.Error
	r.TimeSpent, r.HasNewEvents, r.Repeated, r.Attempts = f.TimeSpent, f.HasNewEvents, f.Repeated, f.Attempts
	r.Program, r.Worker, r.Parked, r.ChangedAt, r.Status, r.End = f.Program, f.Worker, f.Parked, f.ChangedAt.Time, f.Status, f.End
	if r.ChangedAt.IsZero() {
		r.ChangedAt = r.StartedAt
	}
	if r.Adopter != nil {
		r.Start.Owner = f.Owner
	}
	for _, a := range f.Asks {
		r.Asks = append(r.Asks, &runstate.Ask{Seq: a.Seq, AskedAt: a.AskedAt.Time, Deadline: a.Deadline.Time, Audience: a.Audience, Call: a.Call, Calling: a.Calling, Version: a.Version, Revised: a.Revised})
	}
	for _, s := range f.Sleeps {
		r.Sleeps = append(r.Sleeps, &runstate.Sleep{Seq: s.Seq, Until: s.Until.Time})
	}
	return nil
}

// The columns of a run that lists and keys need; digest and the like are the chain's.
const runColumns = "r.num, r.id, r.owner, r.photon, r.started, r.state, r.ended, r.epoch, r.head, r.bytes, r.exclusive, r.queued, r.fold, r.digest"

// scanRun scans runColumns, after the columns for more.
func scanRun(rows scanner, more ...any) (*run, digest, error) {
	var (
		r                     run
		id, owner, photon     string
		started, head, queued int64
		ended                 *int64
		exclusive             *string
		fold                  []byte
		d                     digest
		state                 string
	)
	if err := rows.Scan(append(more, &r.num, &id, &owner, &photon, &started, &state, &ended, &r.Epoch, &head, &r.Bytes, &exclusive, &queued, &fold, &d)...); err != nil {
		return nil, d, err
	}
	r.ID, r.State, r.Last, r.Queued = fromText(id), runstate.State(state), uint64(head), queued != 0
	r.Start.Owner, r.Start.Photon = fromText(owner), fromText(photon)
	if started != unstarted {
		r.StartedAt = time.Unix(0, started)
	}
	if ended != nil {
		r.EndedAt = time.Unix(0, *ended)
	}
	if exclusive != nil {
		r.Start.Exclusive = fromText(*exclusive)
	}
	return &r, d, r.unfold(fold)
}

// unstarted is the start of a run whose first entry isn't its start.
const unstarted = 0

// columns are the values of a row that are indexed. The writer compares them to know which
// rows change.
type columns struct {
	photon  string
	owner   string
	state   runstate.State
	started int64
	ended   any // nil or int64
	due     any // nil or int64
	work    bool
	queued  bool
}

func (r *run) columns() columns {
	c := columns{photon: toText(r.Start.Photon), owner: toText(r.Owner()), state: r.State, ended: nullNanos(r.EndedAt), due: nullNanos(r.Due()), work: !r.IsAtRest(), queued: r.Queued}
	if !r.StartedAt.IsZero() {
		c.started = toNanos(r.StartedAt)
	}
	return c
}

// valueColumns are all columns of runs but num.
const valueColumns = "id, owner, photon, started, state, ended, due, work, epoch, head, digest, bytes, idem, exclusive, queued, forked, fold"

func columnNames(columns string) []string { return strings.Split(columns, ", ") }

// values returns the values of valueColumns.
func (r *liveRun) values(fold []byte) []any {
	c := r.columns()
	return []any{
		toText(r.ID), c.owner, c.photon, c.started, string(c.state), c.ended, c.due, toInt(c.work), int64(r.Epoch), int64(r.Last),
		r.digest[:], r.Bytes, r.idempotency(), nullText(r.Start.Exclusive), toInt(c.queued), nullText(r.forkOf()), fold,
	}
}

// forkOf returns the id of the run that the run was forked from, or "".
func (r *run) forkOf() string {
	if r.Start.Fork == nil {
		return ""
	}
	return r.Start.Fork.Of
}

// idempotency returns the value of the column idem, nil if there is no key.
func (r *run) idempotency() any {
	if r.Start.IdempotencyKey == "" {
		return nil
	}
	return idempotency(r.Start.Owner, r.Start.IdempotencyKey)
}

func idempotency(owner, key string) string {
	text, err := json.Marshal([2]string{toText(owner), toText(key)})
	if err != nil {
		panic(err) // texts
	}
	return string(text)
}

func nullText(s string) any {
	if s == "" {
		return nil
	}
	return toText(s)
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// namedBy returns the names that an audience has in the table audience.
func namedBy(a *audience.Audience) (all []string) {
	if a == nil {
		return nil
	}
	for _, name := range a.Names() {
		if name = toText(name); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
