package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// People, and callers who are nobody in particular.
var (
	ben      = generators.Caller{ID: "user:ben", Name: "ben", Roles: []string{"ops"}}
	cleo     = generators.Caller{ID: "user:cleo", Name: "cleo"}
	dev      = generators.Caller{ID: "user:dev", Name: "dev", Roles: []string{"ops", generators.RoleOperator}}
	browser  = generators.Caller{ID: "session:abc", Roles: []string{"ops"}}
	sharer   = generators.Caller{ID: "token", Roles: []string{"ops"}}
	client   = generators.Caller{ID: "operator"}
	machine  = generators.Caller{ID: "operator", Roles: []string{generators.RoleOperator}}
	approval = askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"go":true}`)}
)

// newApprovalPhoton returns a photon that asks for an approval with those options.
func newApprovalPhoton(options func() []ask.Option) *generators.Photon {
	return newPhoton("approve", func(_ context.Context, yield generators.Yield) (string, error) {
		var by generators.Caller
		ok, err := ask.Confirm(yield, "go", "Go?", append(options(), ask.AnsweredBy(&by))...)
		if err != nil || !ok {
			return "", err
		}
		return by.ID, nil
	}, &generators.Options{Durable: true})
}

func restrictedTo(options ...ask.Option) *generators.Photon {
	return newApprovalPhoton(func() []ask.Option { return options })
}

// waitForOpen waits until a run has an open question.
func (b *testEngine) waitForOpen(who generators.Caller, id string) string {
	b.t.Helper()
	for range b.Watch(b.t.Context(), who) {
		info, err := b.Info(who, id)
		if err != nil || info.State.Ended() {
			b.t.Fatalf("the run is %+v, %v", info, err)
		}
		if len(info.Asks) > 0 {
			return info.Asks[0].ID
		}
	}
	return ""
}

// Who may answer is what the question says, for owners, operators and strangers alike, and
// whether they accept, decline or cancel. The question stays open for those who may.
func TestWhoMayAnswer(t *testing.T) {
	for _, tt := range []struct {
		name         string
		starter      generators.Caller
		options      []ask.Option
		may, mustNot []generators.Caller
	}{
		{"nothing said", ada, nil, []generators.Caller{ada, machine, operator}, []generators.Caller{ben, cleo, browser, sharer, client, {}}},
		{"a role", ada, []ask.Option{ask.From(ask.Role("ops"))}, []generators.Caller{ben, dev}, []generators.Caller{ada, cleo, machine, operator, browser, sharer, client, {}}},
		{"a user", ada, []ask.Option{ask.From(ask.User("cleo"))}, []generators.Caller{cleo}, []generators.Caller{ada, ben, machine, operator, {ID: "session:cleo"}, {ID: "user:Cleo"}, {ID: "user:cleo "}, {ID: "x", Name: "cleo"}}},
		{"the id of a caller", cleo, []ask.Option{ask.From(ask.User("ada"))}, []generators.Caller{ada, {ID: "user:ada"}}, []generators.Caller{cleo, machine}},
		{"any of several", ada, []ask.Option{ask.From(ask.Role("ops")), ask.From(ask.User("cleo"))}, []generators.Caller{ben, cleo}, []generators.Caller{ada, machine}},
		{"somebody else", ben, []ask.Option{ask.NotCaller()}, []generators.Caller{machine, operator, dev}, []generators.Caller{ben, cleo, ada, client}},
		{"somebody else than an operator", dev, []ask.Option{ask.NotCaller()}, []generators.Caller{machine, operator}, []generators.Caller{dev, ben}},
		{"four eyes", dev, []ask.Option{ask.From(ask.Role("ops")), ask.NotCaller()}, []generators.Caller{ben}, []generators.Caller{dev, cleo, machine, operator}},
		{"the owner, by name", cleo, []ask.Option{ask.From(ask.User("cleo"))}, []generators.Caller{cleo}, []generators.Caller{machine}},
		{"operators only", ada, []ask.Option{ask.From(ask.Role("operator"))}, []generators.Caller{machine, operator, dev}, []generators.Caller{ada, client}},
		{"an anonymous owner", browser, []ask.Option{ask.From(ask.Role("ops"))}, []generators.Caller{ben}, []generators.Caller{browser}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestEngine(t, restrictedTo(tt.options...))
			id := b.startRunAs(tt.starter, "approve")
			askID := b.waitForOpen(tt.starter, id)
			for _, who := range tt.mustNot {
				for _, a := range []askdata.Answer{approval, {Action: askdata.Decline}, {Action: askdata.Cancel}} {
					err := b.Answer(t.Context(), who, askID, a, "test")
					if !errors.Is(err, engine.ErrForbidden) && !errors.Is(err, engine.ErrOthersAnswer) {
						t.Errorf("%+v: %s: %v", who, a.Action, err)
					}
				}
				if n := b.CountOpenAsks(who); n != 0 || len(b.Inbox(who, 0)) != 0 {
					t.Errorf("%+v has %d questions in the inbox: %+v", who, n, b.Inbox(who, 0))
				}
				if open, err := b.OpenAsk(t.Context(), who, askID); err == nil && (!open.Excluded || open.For == "") {
					t.Errorf("%+v is not told who is to answer: %+v", who, open)
				}
			}
			for _, who := range tt.may {
				inbox := b.Inbox(who, 0)
				if n := b.CountOpenAsks(who); n != 1 || len(inbox) != 1 || inbox[0].ID != askID || inbox[0].Excluded {
					t.Errorf("%+v has %d questions in the inbox: %+v", who, n, inbox)
				}
			}
			if err := b.Answer(t.Context(), tt.may[0], askID, approval, "test"); err != nil {
				t.Fatal(err)
			}
			if f, err := b.Info(machine, id); err != nil || f.State != engine.Completed && f.State != engine.Running {
				t.Errorf("afterwards: %+v, %v", f, err)
			}
			for _, who := range tt.may {
				if n := b.CountOpenAsks(who); n != 0 || len(b.Inbox(who, 0)) != 0 {
					t.Errorf("afterwards, %+v has %d questions", who, n)
				}
				if err := b.Answer(t.Context(), who, askID, approval, "test"); !errors.Is(err, engine.ErrSettled) {
					t.Errorf("%+v answers again: %v", who, err)
				}
			}
		})
	}
}

// A person who may answer sees the question and how it was settled, but nothing else of
// a run that isn't theirs. Its owner can stop it.
func TestAddressedPersonSeesOnlyTheQuestion(t *testing.T) {
	b := newTestEngine(t, restrictedTo(ask.From(ask.Role("ops")), ask.Showing(generators.Code("plan", "", "drop"))))
	id := b.startRunAs(ada, "approve")
	askID := b.waitForOpen(ada, id)
	open, err := b.OpenAsk(t.Context(), ben, askID)
	if err != nil || !open.AskOnly || len(open.Question.Evidence) != 1 || open.OwnerName != "Ada" {
		t.Fatalf("%+v, %v", open, err)
	}
	if q, err := b.Question(t.Context(), ben, askID); err != nil || len(q.Evidence) != 1 {
		t.Errorf("%+v, %v", q, err)
	}
	_, readErr := b.Read(t.Context(), ben, id, 0)
	_, followErr := b.Follow(t.Context(), ben, id, 0)
	_, infoErr := b.Info(ben, id)
	withdrawErr := b.Withdraw(t.Context(), ben, askID, runlog.Invalid, "")
	for what, err := range map[string]error{
		"read": readErr, "follow": followErr, "info": infoErr, "withdraw": withdrawErr,
		"cancel": b.Cancel(t.Context(), ben, id, "test"), "adopt": b.Adopt(t.Context(), ben, id),
	} {
		if !errors.Is(err, engine.ErrForbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if runs := b.Runs(ben, 0, nil); len(runs) != 0 {
		t.Errorf("the lists have %+v", runs)
	}
	if err := b.Cancel(t.Context(), ada, id, "test"); err != nil {
		t.Errorf("the owner can't stop the run: %v", err)
	}
	entries, err := b.ReadAsk(t.Context(), ben, askID)
	if err != nil || len(entries) != 3 || entries[0].Kind != runlog.KindStarted || entries[1].Kind != runlog.KindAsked || entries[2].Kind != runlog.KindWithdrawn {
		t.Errorf("%v, %v", kindsOf(entries), err)
	}
	if _, err := b.ReadAsk(t.Context(), cleo, askID); !errors.Is(err, engine.ErrForbidden) {
		t.Errorf("a stranger reads it: %v", err)
	}
}

// Nor does that person see what the run was started with, what it has said, or what else
// it asked.
func TestAddressedPersonSeesNothingElseOfTheRun(t *testing.T) {
	const secret = "of nobody else"
	type input struct {
		Note string `json:"note"`
	}
	p := generators.New("plan", func(_ context.Context, _ input, yield generators.Yield) (string, error) {
		yield(generators.Log(generators.Info, "an event "+secret))
		if _, err := ask.Text(yield, "first", "A question "+secret); err != nil {
			return "", err
		}
		ok, err := ask.Confirm(yield, "go", "Go?", ask.From(ask.Role("ops")))
		if err == nil && ok {
			_, err = ask.Text(yield, "last", "Another question "+secret)
		}
		return "a result " + secret, err
	}, nil)
	b := newTestEngine(t, p)
	info, err := b.Start(t.Context(), ada, engine.StartRequest{Photon: "plan", Args: json.RawMessage(`{"note":"arguments ` + secret + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(key string) askdata.Answer {
		return askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"` + key + `":"an answer ` + secret + `"}`)}
	}
	first := b.waitForOpen(ada, info.ID)
	if err := b.Answer(t.Context(), ada, first, answer("first"), "test"); err != nil {
		t.Fatal(err)
	}
	approve := b.waitForOpen(ada, info.ID)
	if err := b.Answer(t.Context(), ben, approve, approval, "test"); err != nil {
		t.Fatal(err)
	}
	last := b.waitForOpen(ada, info.ID)
	if err := b.Answer(t.Context(), ada, last, answer("last"), "test"); err != nil {
		t.Fatal(err)
	}
	entries, err := b.ReadAsk(t.Context(), ben, approve)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", kindsOf(entries), err)
	}
	for _, e := range entries {
		if strings.Contains(string(e.Data), secret) {
			t.Errorf("the entry %s has %s", e.Kind, e.Data)
		}
	}
	for _, other := range []string{first, last} {
		if _, err := b.ReadAsk(t.Context(), ben, other); !errors.Is(err, engine.ErrForbidden) {
			t.Errorf("another question: %v", err)
		}
	}
}

// People who may answer are told of the question, even if nothing of theirs changes.
func TestAddressedPersonIsNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, restrictedTo(ask.From(ask.User("ben"))))
		var seen, strangers atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for who, changes := range map[*generators.Caller]*atomic.Int64{&ben: &seen, &cleo: &strangers} {
			go func() {
				for range b.Watch(ctx, *who) {
					changes.Add(1)
				}
			}()
		}
		synctest.Wait()
		id := b.startRunAs(ada, "approve")
		synctest.Wait()
		if seen.Load() != 2 || strangers.Load() != 1 {
			t.Errorf("after the question: %d and %d changes", seen.Load(), strangers.Load())
		}
		if err := b.Cancel(t.Context(), ada, id, "test"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if seen.Load() != 3 || strangers.Load() != 1 {
			t.Errorf("after its end: %d and %d changes", seen.Load(), strangers.Load())
		}
	})
}

// If nobody who can sign in qualifies, asking fails at once, and says why.
func TestNobodyQualifies(t *testing.T) {
	known := func(people ...generators.Caller) func(func(generators.Caller) bool) bool {
		return func(qualifies func(generators.Caller) bool) bool {
			for _, p := range people {
				if qualifies(p) {
					return true
				}
			}
			return false
		}
	}
	for _, tt := range []struct {
		name    string
		starter generators.Caller
		people  func(func(generators.Caller) bool) bool
		options []ask.Option
		want    string // in the error; empty if the question is asked
	}{
		{"no such role", machine, known(machine, cleo), []ask.Option{ask.From(ask.Role("ops"))}, "a person with the role ops, and nobody who can sign in here qualifies"},
		{"no such user", machine, known(machine), []ask.Option{ask.From(ask.User("ben"))}, "ben, and nobody"},
		{"only who started it", ben, known(ben, cleo), []ask.Option{ask.From(ask.Role("ops")), ask.NotCaller()}, "but not the person who started the run"},
		{"no other operator", machine, known(machine, ben), []ask.Option{ask.NotCaller()}, "an operator, but not"},
		{"an unknown starter", browser, nil, []ask.Option{ask.From(ask.Role("ops")), ask.NotCaller()}, "it isn't known who started the run"},
		{"an unknown client", client, nil, []ask.Option{ask.NotCaller()}, "it isn't known who started the run"},
		{"holders of a token", sharer, nil, []ask.Option{ask.NotCaller()}, "it isn't known who started the run"},
		{"somebody", cleo, known(cleo, ben), []ask.Option{ask.From(ask.Role("ops"))}, ""},
		{"anybody may sign in", cleo, nil, []ask.Option{ask.From(ask.Role("ops"))}, ""},
		{"another operator", ben, known(machine, ben), []ask.Option{ask.NotCaller()}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := make(chan error, 1)
			p := newPhoton("approve", func(_ context.Context, yield generators.Yield) (bool, error) {
				ok, err := ask.Confirm(yield, "go", "Go?", tt.options...)
				asked <- err
				return ok, err
			}, &generators.Options{Durable: true})
			o := testOptions(t, p)
			o.People = tt.people
			b := openTestEngine(t, o)
			id := b.startRunAs(tt.starter, "approve")
			if tt.want == "" {
				b.waitForOpen(tt.starter, id)
				return
			}
			if err := <-asked; !errors.Is(err, ask.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("asking returns %v, want %q", err, tt.want)
			}
		})
	}
}

// What a question says of who may answer survives an eviction and a restart, and a replay
// that says otherwise fails.
func TestAudienceIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var who atomic.Pointer[ask.Who]
		set := func(w ask.Who) { who.Store(&w) }
		set(ask.Role("ops"))
		p := newApprovalPhoton(func() []ask.Option { return []ask.Option{ask.From(*who.Load()), ask.NotCaller()} })
		o := testOptions(t, p)
		b := openTestEngine(t, o)
		id, second := b.startRunAs(dev, "approve"), b.startRunAs(dev, "approve")
		askID, secondAsk := b.waitForOpen(dev, id), b.waitForOpen(dev, second)
		check := func(when string) {
			t.Helper()
			if err := b.Answer(t.Context(), dev, askID, approval, "test"); !errors.Is(err, engine.ErrOthersAnswer) {
				t.Errorf("%s, who started the run answers: %v", when, err)
			}
			if b.CountOpenAsks(ben) != 2 || b.CountOpenAsks(dev) != 0 {
				t.Errorf("%s: %d and %d questions", when, b.CountOpenAsks(ben), b.CountOpenAsks(dev))
			}
		}
		check("while it waits")
		time.Sleep(time.Hour)
		synctest.Wait()
		check("after its eviction")
		b.closeNow()
		b = openTestEngine(t, o)
		check("after a restart")
		if err := b.Answer(t.Context(), ben, askID, approval, "test"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if info, err := b.Info(dev, id); err != nil || info.State != engine.Completed {
			t.Errorf("%+v, %v", info, err)
		}
		set(ask.User("ben"))
		if err := b.Answer(t.Context(), ben, secondAsk, approval, "test"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if info, err := b.Info(dev, second); err != nil || info.State != engine.Parked || !strings.Contains(info.Parked.Detail, "is now for others") {
			t.Errorf("a replay for others: %+v, %v", info, err)
		}
	})
}
