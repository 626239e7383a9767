package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/internal/runstate"
	"github.com/photon-beam/beam/internal/store"
)

// An opener opens a store, and the next time the same one again.
type opener func(t *testing.T) *store.Store

// rowTests are those of rows and lists, on any database.
var rowTests = map[string]func(*testing.T, opener){
	"AreTheFoldOfEntries": testRowsAreTheFoldOfEntries,
	"OfExamples":          testRowsOfExamples,
	"ListsOfRuns":         testListsOfRuns,
	"Keys":                testKeys,
	"ListsOfQuestions":    testListsOfQuestions,
	"Due":                 testDue,
}

func TestRows(t *testing.T) {
	for name, test := range rowTests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			test(t, func(t *testing.T) *store.Store { return openStore(t, store.Options{Dir: dir}) })
		})
	}
}

// randomEntry returns an entry that may follow others, or not. It refers to those shortly
// before.
func randomEntry(r *rand.Rand, after uint64) runlog.Entry {
	back := max(after, 4) - uint64(r.IntN(4))
	who := []string{"ada", "bob", "user:eve", "o\x00wner", "\x01"}
	by := generators.Caller{ID: who[r.IntN(len(who))], Name: "n", Roles: []string{"ops"}}
	audiences := [][]ask.Who{nil, nil, {ask.Role("ops")}, {ask.User("eve"), ask.Role("ops"), ask.User("eve")}}
	statuses := []runlog.FinishStatus{runlog.Completed, runlog.Failed, runlog.Stopped, runlog.Interrupted, runlog.Unanswered}
	at := time.Now().Add(time.Duration(r.IntN(1000)-500) * time.Minute)
	if after == 0 && r.IntN(20) > 0 {
		s := runlog.Started{Photon: "p", Title: "T", Durable: r.IntN(2) == 0, Surface: "test", Args: json.RawMessage(`{"a":1}`), RetainFor: ask.Millis(r.IntN(2)) * ask.Millis(time.Minute)}
		s.SetStartedBy(by)
		if r.IntN(3) == 0 {
			s.Exclusive, s.IdempotencyKey = "k\x00ey", fmt.Sprint("key ", r.Uint64())
		}
		return runlog.NewEntry(runlog.KindStarted, s)
	}
	switch r.IntN(14) {
	case 0:
		return runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "k"})
	case 1:
		return runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: int(after), Program: "00c0ffee"})
	case 2, 3, 4:
		q := &ask.Question{Kind: ask.KindText, Message: "?", From: audiences[r.IntN(len(audiences))], NotCaller: r.IntN(4) == 0}
		a := runlog.Asked{Key: "k", Question: q, TimeSpent: ask.Millis(time.Second)}
		if r.IntN(2) == 0 {
			a.Deadline = at
		}
		return runlog.NewEntry(runlog.KindAsked, a)
	case 5:
		return runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: back})
	case 6:
		return runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: back, Reason: runlog.Expired})
	case 7:
		return runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "k", Until: time.Date(9999, 12, 31, 0, 0, 0, 5, time.UTC)})
	case 8:
		return runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: back})
	case 9:
		return runlog.NewEntry(runlog.KindSampling, runlog.Sampling{AskSeq: back, Call: 2, Approved: &runlog.Approval{Model: "m", Request: &ask.SampleRequest{MaxTokens: 1}}})
	case 10:
		return runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: by})
	case 11:
		return runlog.NewEntry(runlog.KindRepeated, runlog.Repeated{Key: "s"})
	case 12:
		if r.IntN(3) == 0 {
			f := runlog.Finished{Status: statuses[r.IntN(len(statuses))], Result: json.RawMessage(`"r"`), Error: "e\x00\xff"}
			if f.Status == runlog.Unanswered {
				f.Ask = &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined, Seq: back, Message: "?"}
			}
			return runlog.NewEntry(runlog.KindFinished, f)
		}
	}
	return runlog.NewEntry("status", &generators.StatusEvent{Text: fmt.Sprint("status ", after)})
}

// The row of a run is what its entries lead to, after each append, whatever is appended, and
// has all of a runstate.Run. It is written by a store that has it in memory, by one that has
// just been opened, and together with others.
func testRowsAreTheFoldOfEntries(t *testing.T, open opener) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s := open(t)
	last := make([]uint64, 12)
	for round := range 400 {
		i := r.IntN(len(last))
		run := fmt.Sprint("run ", i)
		var entries []runlog.Entry
		for range 1 + r.IntN(3) {
			entries = append(entries, randomEntry(r, last[i]+uint64(len(entries))))
		}
		var err error
		switch {
		case round%100 == 99:
			err = s.Close()
			s = open(t)
		case last[i] > 0 && r.IntN(20) == 0:
			err = s.Delete(t.Context(), run)
			last[i] = 0
		default:
			last[i], err = s.Append(t.Context(), run, last[i], entries...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if last[i] > 0 {
			compareWithFold(t, s, run)
		}
		if round%20 == 0 {
			checkWhole(t, s)
		}
	}
	checkWhole(t, s)
}

func testRowsOfExamples(t *testing.T, open opener) {
	s := open(t)
	for _, x := range runlogtest.Examples() {
		for i, e := range x.Entries {
			if _, err := s.Append(t.Context(), x.Name, uint64(i), e); err != nil {
				t.Fatal(err)
			}
			compareWithFold(t, s, x.Name)
		}
	}
	checkWhole(t, s)
}

// compareWithFold compares a row with the fold of its run's entries.
func compareWithFold(t *testing.T, s *store.Store, run string) {
	t.Helper()
	got, err := s.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	var want runstate.Run
	for batch, err := range s.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			_, _ = want.Apply(e)
		}
	}
	if g, w := normalize(got.Run), normalize(want); !reflect.DeepEqual(g, w) {
		t.Fatalf("%s: the row has\n%s\nand its entries lead to\n%s", run, describe(g), describe(w))
	}
}

// normalize returns the run with its times in UTC, and without empty slices.
func normalize(r runstate.Run) runstate.Run {
	for _, at := range []*time.Time{&r.StartedAt, &r.EndedAt} {
		*at = at.UTC()
	}
	asks, sleeps := r.Asks, r.Sleeps
	r.Asks, r.Sleeps = nil, nil
	for _, a := range asks {
		c := *a
		c.AskedAt, c.Deadline = a.AskedAt.UTC(), a.Deadline.UTC()
		r.Asks = append(r.Asks, &c)
	}
	for _, z := range sleeps {
		r.Sleeps = append(r.Sleeps, &runstate.Sleep{Seq: z.Seq, Until: z.Until.UTC()})
	}
	return r
}

func describe(r runstate.Run) string {
	raw, _ := json.MarshalIndent(r, "", " ")
	return string(raw)
}

func checkWhole(t *testing.T, s *store.Store) store.Report {
	t.Helper()
	report, err := s.Check(t.Context())
	if err != nil || !report.Whole() {
		t.Fatalf("the store is not whole: %+v, %v", report, err)
	}
	return report
}

// startRun appends the start of a run, and more.
func startRun(t testing.TB, s *store.Store, id string, start runlog.Started, more ...runlog.Entry) {
	t.Helper()
	if start.Photon == "" {
		start.Photon = "p"
	}
	if _, err := s.Append(t.Context(), id, 0, append([]runlog.Entry{runlog.NewEntry(runlog.KindStarted, start)}, more...)...); err != nil {
		t.Fatal(err)
	}
}

// at returns an entry with a time, minutes after a fixed one.
func at(minute int, e runlog.Entry) runlog.Entry {
	e.Time = time.Date(2026, 5, 1, 12, minute, 0, 0, time.UTC)
	return e
}

func asked(q ask.Question) runlog.Entry {
	q.Kind, q.Message = ask.KindText, "?"
	return runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: &q})
}

func ids(runs []*store.Run) []string {
	var all []string
	for _, r := range runs {
		all = append(all, r.ID)
	}
	return all
}

func askIDs(asks []store.OpenAsk) []string {
	var all []string
	for _, a := range asks {
		all = append(all, a.Position().ID)
	}
	return all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func expect[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b T) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func testListsOfRuns(t *testing.T, open opener) {
	s, ctx := open(t), t.Context()
	for i, owner := range []string{"ada", "bob", "ada", "ada"} {
		e := at(i, runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p", Owner: owner, Durable: i > 0}))
		if i == 3 { // at the same time as another
			e = at(2, e)
		}
		if _, err := s.Append(ctx, fmt.Sprint("r", i), 0, e); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, "ada's", ids(must(s.ListRuns(ctx, "ada", store.RunPosition{}, 10))), []string{"r3", "r2", "r0"})
	expect(t, "all", ids(must(s.ListRuns(ctx, store.Everyone, store.RunPosition{}, 10))), []string{"r3", "r2", "r1", "r0"})
	var paged []string
	for p := (store.RunPosition{}); ; {
		page := must(s.ListRuns(ctx, store.Everyone, p, 1))
		if len(page) == 0 {
			break
		}
		paged, p = append(paged, page[0].ID), store.RunPosition{Started: page[0].StartedAt, ID: page[0].ID}
	}
	expect(t, "in pages", paged, []string{"r3", "r2", "r1", "r0"})

	adopted := runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: generators.Caller{ID: "bob"}})
	if _, err := s.Append(ctx, "r0", 1, adopted, at(9, runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed}))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(ctx, "r1", 1, at(8, runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed}))); err != nil {
		t.Fatal(err)
	}
	expect(t, "bob's", ids(must(s.ListRuns(ctx, "bob", store.RunPosition{}, 10))), []string{"r1", "r0"})
	for owner, want := range map[string][]string{"bob": {"r1", "r0"}, "ada": nil, store.Everyone: {"r1", "r0"}} {
		var ended []string
		for r, err := range s.EndedRuns(ctx, owner) {
			if err != nil {
				t.Fatal(err)
			}
			ended = append(ended, r.ID)
		}
		expect(t, "ended of "+owner, ended, want)
	}
	expect(t, "owners", must(s.OwnersWithEnded(ctx, 1)), []string{"bob"})
	c := must(s.Counts(ctx, "bob"))
	if c.All() != 2 || c.Unfinished() != 0 || c.Runs[runstate.Completed] != 1 || c.Ended != 2 || c.EndedBytes == 0 {
		t.Errorf("counts of bob: %+v", c)
	}
	if c = must(s.Counts(ctx, store.Everyone)); c.All() != 4 || c.Unfinished() != 2 {
		t.Errorf("counts of all: %+v", c)
	}
}

func testKeys(t *testing.T, open opener) {
	s, ctx := open(t), t.Context()
	startRun(t, s, "first", runlog.Started{Owner: "ada", IdempotencyKey: "k"})
	start := runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p", Owner: "ada", IdempotencyKey: "k"})
	_, err := s.Append(ctx, "second", 0, start)
	var duplicate *store.DuplicateStartError
	if !errors.As(err, &duplicate) || duplicate.Run != "first" {
		t.Errorf("a second start with the same key: %v", err)
	}
	if _, err := s.Run(ctx, "second"); !errors.Is(err, runlog.ErrNotFound) {
		t.Errorf("the second run: %v", err)
	}
	startRun(t, s, "bob's", runlog.Started{Owner: "bob", IdempotencyKey: "k"})
	if r := must(s.RunByKey(ctx, "bob", "k")); r.ID != "bob's" {
		t.Errorf("bob's run is %s", r.ID)
	}
	for i := range 3 {
		startRun(t, s, fmt.Sprint("q", i), runlog.Started{Owner: "ada", Exclusive: "prod"}, runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "prod"}))
	}
	if _, err := s.Append(ctx, "q1", 2, runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1})); err != nil {
		t.Fatal(err)
	}
	expect(t, "the queue", ids(must(s.Queue(ctx, "p", "prod", 10))), []string{"q1", "q0", "q2"})
	checkWhole(t, s)
}

func testListsOfQuestions(t *testing.T, open opener) {
	s, ctx := open(t), t.Context()
	ada, ops := generators.Caller{ID: "user:ada"}, generators.Caller{ID: "user:eve", Roles: []string{"ops"}}
	startRun(t, s, "a", runlog.Started{Owner: "user:ada"},
		at(1, asked(ask.Question{})), at(3, asked(ask.Question{From: []ask.Who{ask.Role("ops"), ask.User("eve")}, NotCaller: true})))
	startRun(t, s, "b", runlog.Started{Owner: "user:bob"}, at(2, asked(ask.Question{})), at(4, asked(ask.Question{From: []ask.Who{ask.User("ada")}})))
	startRun(t, s, "e", runlog.Started{Owner: "user:eve"}, at(5, asked(ask.Question{From: []ask.Who{ask.Role("ops")}, NotCaller: true})))
	all := []string{"a.2", "b.2", "a.3", "b.3", "e.2"}
	for name, test := range map[string]struct{ got, want []string }{
		"ada's":             {askIDs(must(s.ListAsks(ctx, "user:ada", store.AskPosition{}, 9))), []string{"a.2", "a.3"}},
		"all":               {askIDs(must(s.ListAsks(ctx, store.Everyone, store.AskPosition{}, 9))), all},
		"restricted":        {askIDs(must(s.ListRestricted(ctx, store.AskPosition{}, 9))), []string{"a.3", "b.3", "e.2"}},
		"for ada":           {askIDs(must(s.ListAnswerable(ctx, ada, store.AskPosition{}, 9))), []string{"a.2", "a.3", "b.3"}},
		"for eve, with ops": {askIDs(must(s.ListAnswerable(ctx, ops, store.AskPosition{}, 9))), []string{"a.3", "e.2"}},
		"for nobody":        {askIDs(must(s.ListAnswerable(ctx, generators.Caller{}, store.AskPosition{}, 9))), nil},
	} {
		expect(t, name, test.got, test.want)
	}
	var paged []string
	for p := (store.AskPosition{}); ; {
		page := must(s.ListAnswerable(ctx, ada, p, 1))
		if len(page) == 0 {
			break
		}
		paged, p = append(paged, page[0].Position().ID), page[0].Position()
	}
	expect(t, "for ada, in pages", paged, []string{"a.2", "a.3", "b.3"})
	if _, err := s.Append(ctx, "a", 3, runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: 3}), runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: 2})); err != nil {
		t.Fatal(err)
	}
	expect(t, "ada's after that", askIDs(must(s.ListAsks(ctx, "user:ada", store.AskPosition{}, 9))), nil)
	checkWhole(t, s)
}

func testDue(t *testing.T, open opener) {
	s, ctx := open(t), t.Context()
	if next := must(s.NextDue(ctx)); !next.IsZero() {
		t.Errorf("in an empty store, %v is due next", next)
	}
	now := time.Now()
	q := &ask.Question{Kind: ask.KindText}
	startRun(t, s, "later", runlog.Started{Durable: true}, runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "z", Until: now.Add(time.Hour)}))
	startRun(t, s, "soon", runlog.Started{Durable: true}, runlog.NewEntry(runlog.KindAsked, runlog.Asked{Question: q}), runlog.NewEntry(runlog.KindAsked, runlog.Asked{Question: q, Deadline: now.Add(time.Minute)}))
	startRun(t, s, "working", runlog.Started{Durable: true})
	startRun(t, s, "lost", runlog.Started{}, runlog.NewEntry(runlog.KindAsked, runlog.Asked{Question: q}))
	if next := must(s.NextDue(ctx)); !next.Equal(now.Add(time.Minute)) {
		t.Errorf("%v is due next", next)
	}
	expect(t, "due now", ids(must(s.Due(ctx, now, 9))), nil)
	expect(t, "due in an hour", ids(must(s.Due(ctx, now.Add(time.Hour), 9))), []string{"soon", "later"})
	var work []string
	for r, err := range s.NeedingWorker(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		work = append(work, r.ID)
	}
	expect(t, "need a worker", work, []string{"working", "lost"})
}

// A backup is of one moment, though appends go on.
func TestBackup(t *testing.T) {
	s := openStore(t, store.Options{Dir: t.TempDir()})
	for i := range 100 {
		startRun(t, s, fmt.Sprint(i), runlog.Started{Owner: "ada"}, asked(ask.Question{}))
	}
	dir := t.TempDir()
	finished, during := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-finished:
				during <- n
				return
			default:
				start := runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p", Owner: "bob"})
				if _, err := s.Append(t.Context(), fmt.Sprint("during ", n), 0, start, asked(ask.Question{})); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	err := s.Backup(t.Context(), dir)
	close(finished)
	n := <-during
	if err != nil || n == 0 {
		t.Fatalf("%v, with %d appends during the backup", err, n)
	}
	if err := s.Backup(t.Context(), dir); err == nil {
		t.Error("a backup was overwritten")
	}
	startRun(t, s, "later", runlog.Started{})
	restored := openStore(t, store.Options{Dir: dir})
	if report := checkWhole(t, restored); report.Runs < 100 || report.Runs > 100+n {
		t.Errorf("the backup has %d runs, and the store had 100 and then %d more", report.Runs, n)
	}
	startRun(t, restored, "new", runlog.Started{})
	checkWhole(t, restored)
}
