package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runlog"
)

var (
	operator = generators.Caller{ID: "grace", Name: "Grace", Roles: []string{generators.RoleOperator}}
	ada      = generators.Caller{ID: "ada", Name: "Ada", Roles: []string{"approver"}}
)

// waitForInbox waits until a caller has an open question.
func (b *testEngine) waitForInbox(who generators.Caller) {
	for range b.Watch(b.t.Context(), who) {
		if len(b.Inbox(who, 0)) > 0 {
			return
		}
	}
}

func TestOperatorUsesAllRuns(t *testing.T) {
	b := newTestEngine(t, greeter)
	id := b.startRunAs(ada, "greeter")
	b.waitForInbox(operator)
	info, err := b.Info(operator, id)
	if err != nil || info.Owner != "ada" || info.OwnerName != "Ada" || len(info.Asks) != 1 {
		t.Errorf("info = %+v, %v", info, err)
	}
	if b.CountOpenAsks(operator) != 1 || len(b.Runs(operator, 0, nil)) != 1 {
		t.Error("the operator's lists lack the run")
	}
	a := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}
	for _, nobody := range []generators.Caller{{}, {Roles: operator.Roles}, {ID: "x", Roles: []string{"Operator"}}, {ID: "operator"}} {
		if err := b.Answer(t.Context(), nobody, info.Asks[0].ID, a, "test"); !errors.Is(err, engine.ErrForbidden) {
			t.Errorf("%+v: %v", nobody, err)
		}
		if err := b.Adopt(t.Context(), nobody, id); !errors.Is(err, engine.ErrForbidden) {
			t.Errorf("%+v adopts: %v", nobody, err)
		}
	}
	if err := b.Answer(t.Context(), operator, info.Asks[0].ID, a, "test"); err != nil {
		t.Error(err)
	}
	other := b.startRunAs(ada, "greeter")
	if err := b.Cancel(t.Context(), operator, other, "browser"); err != nil {
		t.Error(err)
	}
}

// TestAdopt has an operator adopt a run that waits. Its former owner loses it, and
// the photon still has the caller who started it.
func TestAdopt(t *testing.T) {
	var callers []generators.Caller
	p := newPhoton("patient", func(ctx context.Context, yield generators.Yield) (string, error) {
		callers = append(callers, generators.CallerOf(ctx))
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true})
	o := testOptions(t, p)
	b := openTestEngine(t, o)
	id := b.startRunAs(ada, "patient")
	followed, err := b.Follow(t.Context(), ada, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan error, 1)
	go func() {
		for batch, err := range followed {
			if hasKind(batch, runlog.KindAdopted) {
				err = errors.New("the former owner reads on")
			}
			if err != nil {
				lost <- err
				return
			}
		}
		lost <- nil
	}()
	b.waitForInbox(ada)
	for range 2 { // the second does nothing
		if err := b.Adopt(t.Context(), operator, id); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-lost; !errors.Is(err, engine.ErrForbidden) {
		t.Errorf("the former owner's stream ended with %v", err)
	}
	b.checkAdopted(id)
	b.closeNow()
	b = openTestEngine(t, o)
	b.checkAdopted(id)
	plain := generators.Caller{ID: operator.ID} // owns the run even without the role
	b.acceptOnlyAsk(plain, id, `{"name":"Eve"}`)
	followed, err = b.Follow(t.Context(), plain, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range followed {
	}
	if err := b.Adopt(t.Context(), generators.Caller{ID: "x", Roles: operator.Roles}, id); !errors.Is(err, engine.ErrRunEnded) {
		t.Errorf("adopting an ended run: %v", err)
	}
	if len(callers) != 2 || !reflect.DeepEqual(callers[0], ada) || !reflect.DeepEqual(callers[1], ada) {
		t.Errorf("the photon's callers were %+v", callers)
	}
	if n := len(slices.DeleteFunc(b.entries(id), func(e runlog.Entry) bool { return e.Kind != runlog.KindAdopted })); n != 1 {
		t.Errorf("there are %d adoptions", n)
	}
}

// checkAdopted checks that operator owns a run that ada started.
func (b *testEngine) checkAdopted(id string) {
	b.t.Helper()
	info, err := b.Info(operator, id)
	if err != nil || info.Owner != "grace" || info.OwnerName != "Grace" || info.State != engine.Waiting {
		b.t.Fatalf("info = %+v, %v", info, err)
	}
	if _, err := b.Info(ada, id); !errors.Is(err, engine.ErrForbidden) {
		b.t.Errorf("the former owner's info: %v", err)
	}
	if _, err := b.OpenAsk(b.t.Context(), ada, info.Asks[0].ID); !errors.Is(err, engine.ErrForbidden) {
		b.t.Errorf("the former owner's question: %v", err)
	}
	if n := len(b.Runs(ada, 0, nil)) + len(b.Inbox(ada, 0)) + b.CountOpenAsks(ada); n != 0 {
		b.t.Errorf("the former owner's lists have %d entries", n)
	}
	owner := generators.Caller{ID: "grace"}
	if len(b.Runs(owner, 0, nil)) != 1 || len(b.Inbox(owner, 0)) != 1 || b.CountOpenAsks(owner) != 1 {
		b.t.Error("the new owner's lists lack the run")
	}
}

func hasKind(batch []runlog.Entry, kind runlog.Kind) bool {
	return slices.ContainsFunc(batch, func(e runlog.Entry) bool { return e.Kind == kind })
}

// Another process adopts a run while this one works on it: the run goes on, and the
// other's adoption counts here, too.
func TestAdoptionByAnotherProcess(t *testing.T) {
	b := newTestEngine(t, greeter)
	id := b.startRunAs(ada, "greeter")
	b.waitForInbox(ada)
	last := uint64(len(b.entries(id)))
	if _, err := b.log.Append(t.Context(), id, last, runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: operator})); err != nil {
		t.Fatal(err)
	}
	b.acceptOnlyAsk(operator, id, `{"name":"Ada"}`)
	if f := b.waitForEndAs(operator, id); f.Status != runlog.Completed {
		t.Errorf("finished = %+v", f)
	}
	if info, err := b.Info(operator, id); err != nil || info.Owner != "grace" {
		t.Errorf("info = %+v, %v", info, err)
	}
}

// A run that another process has just claimed can be adopted all the same.
func TestAdoptionOfARunClaimedElsewhere(t *testing.T) {
	o := testOptions(t, newPhoton("patient", func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true}))
	l := &contestedLog{Log: o.Log}
	o.Log = l
	b := openTestEngine(t, o)
	id := b.startRunAs(ada, "patient")
	b.waitForInbox(ada)
	l.appendBeforeNext(runlog.KindAdopted, runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 2}))
	if err := b.Adopt(t.Context(), operator, id); err != nil {
		t.Fatal(err)
	}
	b.checkAdopted(id)
}

func (b *testEngine) waitForEndAs(who generators.Caller, id string) (f runlog.Finished) {
	b.t.Helper()
	batches, err := b.Follow(b.t.Context(), who, id, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			b.t.Fatal(err)
		}
		for _, e := range batch {
			if e.Kind == runlog.KindFinished {
				f, _ = runlog.Decode[runlog.Finished](e)
			}
		}
	}
	return f
}

// An adopted run doesn't stop because its former owner's client stays away.
func TestAdoptedRunHasNoIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, greeter)
		id := b.startRunAs(ada, "greeter")
		synctest.Wait()
		if err := b.SetIdleTimeout(ada, id, time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := b.Adopt(t.Context(), operator, id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if info, err := b.Info(operator, id); err != nil || info.State != engine.Waiting {
			t.Errorf("info = %+v, %v", info, err)
		}
	})
}

func TestTransferRuns(t *testing.T) {
	b := newTestEngine(t, greeter)
	for range 100 {
		b.startRunAs(ada, "greeter")
	}
	b.startRunAs(generators.Caller{ID: "bob"}, "greeter")
	stopped := b.startRunAs(ada, "greeter")
	if err := b.Cancel(t.Context(), ada, stopped, "browser"); err != nil {
		t.Fatal(err)
	}
	if err := b.TransferRuns(t.Context(), generators.Caller{ID: "ada", Roles: operator.Roles}, generators.Caller{ID: "token"}); err != nil {
		t.Fatal(err)
	}
	if mine, theirs := len(b.Runs(ada, 0, nil)), len(b.Runs(generators.Caller{ID: "token"}, 0, nil)); mine != 1 || theirs != 100 {
		t.Errorf("%d runs stayed and %d were transferred, want 1 and 100", mine, theirs)
	}
}

// TestAnswerRecord checks what is recorded of an answer, and what the photon learns,
// both at once and when it resumes.
func TestAnswerRecord(t *testing.T) {
	var seen [][2]generators.Caller
	p := newPhoton("asker", func(_ context.Context, yield generators.Yield) (string, error) {
		var by [2]generators.Caller
		if _, err := ask.Confirm(yield, "one", "One & <two>?", ask.AnsweredBy(&by[0])); err != nil && !errors.Is(err, ask.ErrDeclined) {
			return "", err
		}
		_, err := ask.Text(yield, "two", "Two?", ask.AnsweredBy(&by[1]))
		seen = append(seen, by)
		return "", err
	}, &generators.Options{Durable: true})
	o := testOptions(t, p)
	b := openTestEngine(t, o)
	id := b.startRun("asker", "")
	askID, _ := b.waitForAsk(id, 0)
	if err := b.Answer(t.Context(), operator, askID, askdata.Answer{Action: askdata.Decline}, "browser"); err != nil {
		t.Fatal(err)
	}
	askID, _ = b.waitForAsk(id, 4)
	b.closeNow()
	b = openTestEngine(t, o)
	b.acceptAsk(askID, `{"two":"2"}`) // the question is read from the log
	b.waitForEnd(id)
	entries := b.entries(id)
	shown := make(map[uint64]string)
	for _, e := range entries {
		switch e.Kind {
		case runlog.KindAsked:
			shown[e.Seq] = runlog.DigestQuestion(rawjson.Member(e.Data, "question"))
		case runlog.KindAnswered:
			a, err := runlog.Decode[runlog.Answered](e)
			if err != nil || a.Caller == nil || a.Shown == "" || a.Shown != shown[a.AskSeq] || e.Time.IsZero() {
				t.Errorf("answered = %s, %v; shown %q", e.Data, err, shown[a.AskSeq])
			}
			if first := a.Answer.Action == askdata.Decline; first && (a.Caller.Name != "Grace" || a.Surface != "browser") || !first && a.Caller.ID != me.ID {
				t.Errorf("answered = %s", e.Data)
			}
		}
	}
	if len(shown) != 2 || len(seen) == 0 {
		t.Fatalf("the log has %d questions, and the photon ended %d times", len(shown), len(seen))
	}
	if by := seen[len(seen)-1]; !reflect.DeepEqual(by[0], operator) || !reflect.DeepEqual(by[1], me) {
		t.Errorf("the photon learned %+v", by)
	}
}

// TestAllow checks that nobody finds or starts a photon that refuses them.
func TestAllow(t *testing.T) {
	only := func(role string) func(generators.Caller) error {
		return func(c generators.Caller) error {
			if !c.HasRole(role) {
				return errors.New("no")
			}
			return nil
		}
	}
	noop := func(context.Context, generators.Yield) (string, error) { return "", nil }
	b := newTestEngine(t, newPhoton("all", noop, nil),
		newPhoton("approvers", noop, &generators.Options{Allow: only("approver")}),
		newPhoton("broken", noop, &generators.Options{Allow: func(generators.Caller) error { panic("oh") }}))
	for _, tt := range []struct {
		who  generators.Caller
		want []string
	}{{ada, []string{"all", "approvers"}}, {operator, []string{"all"}}, {generators.Caller{}, []string{"all"}}} {
		var names []string
		for _, p := range b.Photons(tt.who) {
			names = append(names, p.Name())
		}
		if !slices.Equal(names, tt.want) {
			t.Errorf("%s finds %q, want %q", tt.who.ID, names, tt.want)
		}
	}
	for name, want := range map[string]error{"all": nil, "approvers": engine.ErrPhotonNotFound, "broken": engine.ErrPhotonNotFound, "none": engine.ErrPhotonNotFound} {
		if _, err := b.Start(t.Context(), operator, engine.StartRequest{Photon: name}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if _, ok := b.LookupPhoton(operator, name); ok != (want == nil) {
			t.Errorf("%s is found: %v", name, ok)
		}
	}
	if _, err := b.Start(t.Context(), ada, engine.StartRequest{Photon: "approvers"}); err != nil {
		t.Error(err)
	}
}

// TestOffers checks that a photon that isn't offered is in no list and can't be started,
// while its runs of before continue with their answers.
func TestOffers(t *testing.T) {
	noop := func(context.Context, generators.Yield) (string, error) { return "", nil }
	waits := newPhoton("waits", func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "What is your name?")
	}, &generators.Options{Durable: true})
	o := testOptions(t, waits, newPhoton("noop", noop, nil))
	before := openTestEngine(t, o)
	id := before.startRun("waits", "{}")
	question, _ := before.waitForAsk(id, 0)
	before.closeNow()

	o.Offers = func(name string) bool { return name == "noop" }
	b := openTestEngine(t, o)
	if all := b.Photons(me); len(all) != 1 || all[0].Name() != "noop" {
		t.Errorf("%d photons are listed, want noop", len(all))
	}
	if _, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "waits"}); !errors.Is(err, engine.ErrPhotonNotFound) {
		t.Errorf("starting it: %v", err)
	}
	b.acceptAsk(question, `{"name":"Ada"}`)
	if f := b.waitForEnd(id); f.Status != runlog.Completed {
		t.Errorf("the run of before ended with %+v", f)
	}
}

// TestTokenRunsOfEarlierVersions opens a log in which a digest of the token owns a
// run.
func TestTokenRunsOfEarlierVersions(t *testing.T) {
	var caller generators.Caller
	o := testOptions(t, newPhoton("patient", func(ctx context.Context, yield generators.Yield) (string, error) {
		caller = generators.CallerOf(ctx)
		return ask.Text(yield, "name", "Name?")
	}, &generators.Options{Durable: true}))
	started := runlog.Started{Photon: "patient", Durable: true, Owner: "bearer:0011223344556677", Surface: "http", Args: json.RawMessage(`{}`), IdempotencyKey: "k"}
	if _, err := o.Log.Append(t.Context(), "00", 0, runlog.NewEntry(runlog.KindStarted, started), runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1})); err != nil {
		t.Fatal(err)
	}
	b := openTestEngine(t, o)
	b.waitForInbox(callers.Token())
	if again, err := b.Start(t.Context(), callers.Token(), engine.StartRequest{Photon: "patient", IdempotencyKey: "k"}); err != nil || again.ID != "00" {
		t.Errorf("a repeated start: %+v, %v", again, err)
	}
	b.acceptOnlyAsk(callers.Token(), "00", `{"name":"Ada"}`)
	if f := b.waitForEndAs(callers.Token(), "00"); f.Status != runlog.Completed || caller.ID != "token" {
		t.Errorf("finished = %+v for %+v", f, caller)
	}
}
