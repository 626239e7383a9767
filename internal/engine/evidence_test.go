package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// A migrator confirms a plan and then carries it out. The tests change the plan between
// replays.
type migrator struct {
	plan    atomic.Pointer[string]
	applied atomic.Int64
}

func newMigrator(plan string) *migrator {
	var m migrator
	m.plan.Store(&plan)
	return &m
}

func (m *migrator) newPhoton() *generators.Photon {
	return newPhoton("migrate", func(_ context.Context, yield generators.Yield) (bool, error) {
		ok, err := ask.Confirm(yield, "go", "Apply?", ask.Destructive(), ask.Showing(generators.Code("001.sql", "sql", *m.plan.Load())))
		if err != nil || !ok {
			return false, err
		}
		return generators.Step(yield, "apply", func(context.Context) (bool, error) { m.applied.Add(1); return true, nil })
	}, &generators.Options{Durable: true})
}

// A question is recorded as people read it, and its answer has the values that it declared.
func TestQuestionIsRecordedAsItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, newPhoton("delete", func(_ context.Context, yield generators.Yield) (string, error) {
			yield(generators.Status("about \u202ea.txt"))
			return ask.Select(yield, "file", "Delete \u202etxt.terces\u202c?", []ask.Choice{{Value: "a\u200b.txt"}, {Value: "a.txt"}}, ask.Showing(generators.Code("\u2066a", "text", "b")))
		}, nil))
		id := b.startRun("delete", "")
		askID, _ := b.waitForAsk(id, 0)
		open, err := b.OpenAsk(t.Context(), me, askID)
		if err != nil {
			t.Fatal(err)
		}
		q := open.Question
		if q.Message != "Delete ‹U+202E›txt.terces‹U+202C›?" || q.Fields[0].Choices[0] != (askdata.Choice{Value: "a\u200b.txt", Title: "a‹U+200B›.txt"}) || q.Evidence[0].Title != "‹U+2066›a" {
			t.Errorf("the question is recorded as %+v", q)
		}
		if e := b.waitForEntry(id, 0, "status"); !strings.Contains(string(e.Data), "about ‹U+202E›a.txt") {
			t.Errorf("the status is %s", e.Data)
		}
		if err := b.Answer(t.Context(), me, askID, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"file":"a\u200b.txt"}`)}, "test"); err != nil {
			t.Fatal(err)
		}
		if end := b.waitForEnd(id); string(end.Result) != "\"a\u200b.txt\"" {
			t.Errorf("the run ended with %+v", end)
		}
	})
}

// A question is recorded with what it shows, however large, and a replay that shows the
// same continues.
func TestQuestionKeepsWhatItShows(t *testing.T) {
	for _, size := range []int{20, runlog.MaxEntryData + 1} {
		synctest.Test(t, func(t *testing.T) {
			plan := strings.Repeat("x", size)
			m := newMigrator(plan)
			b := newTestEngine(t, m.newPhoton())
			id := b.startRun("migrate", "")
			askID, _ := b.waitForAsk(id, 0)
			check := func(when string) {
				t.Helper()
				open, err := b.OpenAsk(t.Context(), me, askID)
				if err != nil {
					t.Fatal(err)
				}
				shown := open.Question.Evidence
				if len(shown) != 1 || shown[0].Title != "001.sql" || string(shown[0].Body) != plan || open.Evidence != runlog.DigestEvidence(shown) {
					t.Errorf("%s, the question shows %v with the digest %q", when, shown, open.Evidence)
				}
			}
			check("while it waits")
			time.Sleep(time.Hour)
			synctest.Wait()
			check("after its eviction")
			b.acceptAsk(askID, `{"go":true}`)
			if f := b.waitForEnd(id); f.Status != runlog.Completed || m.applied.Load() != 1 {
				t.Errorf("finished = %+v; applied %d times", f, m.applied.Load())
			}
		})
	}
}

// A run whose replayed question shows something else is parked before any later code runs, which
// says which of the causes it is if it knows.
func TestReplayThatShowsSomethingElseIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMigrator("CREATE TABLE a;")
		b := newTestEngine(t, m.newPhoton())
		id := b.startRun("migrate", "")
		askID, _ := b.waitForAsk(id, 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		other := "DROP TABLE a;"
		m.plan.Store(&other)
		b.acceptAsk(askID, `{"go":true}`)
		p := b.waitForParked(id)
		if p.Reason != runlog.ParkedChanged || !strings.HasPrefix(p.Detail, `the tool is not deterministic: the question "go" now shows something else`) {
			t.Errorf("parked = %+v", p)
		}
		if n := m.applied.Load(); n != 0 {
			t.Errorf("the plan was applied %d times", n)
		}
	})
}

// After a restart, the digest of the program tells that its code has changed.
func TestChangedToolShowsSomethingElse(t *testing.T) {
	before := newTestEngine(t, newMigrator("CREATE TABLE a;").newPhoton())
	id := before.startRun("migrate", "")
	askID, seq := before.waitForAsk(id, 0)
	before.acceptAsk(askID, `{"go":true}`)
	before.waitForEnd(id)
	var entries []runlog.Entry
	for _, e := range before.entries(id) {
		if entries = append(entries, e); e.Kind == runlog.KindAnswered {
			break
		}
	}
	if len(entries) < int(seq)+1 {
		t.Fatalf("the log has %v", kindsOf(entries))
	}
	m := newMigrator("DROP TABLE a;")
	o := testOptions(t, m.newPhoton())
	o.Log = logWithPrefix(t, entries, len(entries))
	o.Program = func() string { return "another program" }
	after := openTestEngine(t, o)
	if p := after.waitForParked(crashedRunID); !strings.HasPrefix(p.Detail, `the tool has changed since this run began: the question "go" now shows something else`) || m.applied.Load() != 0 {
		t.Errorf("parked = %+v; applied %d times", p, m.applied.Load())
	}
}

// Secrets that the run was given are masked in what its questions show, in every log and
// on every surface; a replay masks the same ones.
func TestSecretsAreMaskedInEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const token = `tok"en<1>"` // JSON writes it in several ways
		photon := newPhoton("masked", func(_ context.Context, yield generators.Yield) (string, error) {
			secret, err := ask.Secret(yield, "token", "Token?")
			if err != nil {
				return "", err
			}
			ok, err := ask.Confirm(yield, "go", "Send "+secret+"?", ask.Showing(
				generators.Code("request to "+secret, "http", "Authorization: Bearer "+secret),
				generators.JSON("body", map[string]string{"token": secret})))
			if err != nil || !ok {
				return "", err
			}
			return "sent", nil
		}, &generators.Options{Durable: true})
		b := newTestEngine(t, photon)
		id := b.startRun("masked", "")
		askID, seq := b.waitForAsk(id, 0)
		content, _ := json.Marshal(map[string]string{"token": token})
		b.acceptAsk(askID, string(content))
		askID, _ = b.waitForAsk(id, seq)
		check := func(when string) {
			t.Helper()
			open, err := b.OpenAsk(t.Context(), me, askID)
			if err != nil {
				t.Fatal(err)
			}
			shown := open.Question.Evidence
			if open.Question.Message != "Send ••••?" || len(shown) != 2 || shown[0].Title != "request to ••••" || string(shown[0].Body) != "Authorization: Bearer ••••" || string(shown[1].Body) != `{"token":"••••"}` {
				t.Errorf("%s, the question is %+v", when, open.Question)
			}
		}
		check("while it waits")
		for _, e := range b.entries(id) {
			if strings.Contains(string(e.Data), "en<1>") || strings.Contains(string(e.Data), `en\u003c1`) {
				t.Errorf("the log has the secret: %s", e.Data)
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		check("after its eviction")
		b.acceptAsk(askID, `{"go":true}`)
		if f := b.waitForEnd(id); f.Status != runlog.Completed {
			t.Errorf("finished = %+v", f)
		}
	})
}

// Secrets that the run was given are masked in whatever it shows, returns or fails with.
func TestSecretsAreMaskedInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const token = `tok"en<1>"`
		newLeaky := func(name string, fail bool) *generators.Photon {
			return newPhoton(name, func(_ context.Context, yield generators.Yield) (map[string]string, error) {
				secret, err := ask.Secret(yield, "token", "Token?")
				if err != nil {
					return nil, err
				}
				yield(generators.Status("with " + secret))
				yield(generators.Progress(1, 2, secret))
				yield(generators.Log(generators.Info, map[string]string{"header": "Bearer " + secret}))
				yield(generators.Chunk("its text is " + secret))
				yield(generators.Toast(generators.Info, secret))
				yield(generators.Code("request "+secret, "http", strings.Repeat("Bearer "+secret+"\n", 50_000)))
				_, stepErr := generators.Step(yield, "send", func(context.Context) (bool, error) { return false, errors.New("GET /?token=" + secret + ": refused") })
				if stepErr == nil || strings.Contains(stepErr.Error(), secret) {
					t.Errorf("the step's error is %v; a replay's is masked", stepErr)
				}
				if fail {
					return nil, errors.New("refused: " + secret)
				}
				return map[string]string{"sent": secret}, nil
			}, &generators.Options{Durable: true})
		}
		b := newTestEngine(t, newLeaky("completes", false), newLeaky("fails", true))
		for photon, want := range map[string]string{"completes": `{"sent":"••••"}`, "fails": "refused: ••••"} {
			id := b.startRun(photon, "")
			askID, _ := b.waitForAsk(id, 0)
			content, _ := json.Marshal(map[string]string{"token": token})
			b.acceptAsk(askID, string(content))
			if f := b.waitForEnd(id); string(f.Result)+f.Error != want {
				t.Errorf("%s ended with %+v", photon, f)
			}
			shown := 0
			for _, e := range b.entries(id) {
				if strings.Contains(string(e.Data), "en<1>") || strings.Contains(string(e.Data), `en\u003c1`) {
					t.Errorf("the log has the secret: %.200s", e.Data)
				}
				shown += strings.Count(string(e.Data), "••••")
				if e.Kind != "artifact" {
					continue
				}
				a, body, err := b.OpenArtifact(t.Context(), me, id, e.Seq)
				if err != nil {
					t.Fatal(err)
				}
				if body != nil {
					a.Body, err = io.ReadAll(body)
					body.Close()
				}
				if err != nil || strings.Contains(string(a.Body), token) || !strings.Contains(string(a.Body), "Bearer ••••") || a.Size != int64(len(a.Body)) {
					t.Errorf("the artifact of %d bytes has %.100s, %v", a.Size, a.Body, err)
				}
			}
			if shown < 7 {
				t.Errorf("%s has only %d masks", photon, shown)
			}
		}
	})
}
