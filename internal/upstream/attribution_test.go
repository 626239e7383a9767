package upstream_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
	"github.com/photon-beam/beam/internal/testserver"
	"github.com/photon-beam/beam/internal/upstream/config"
)

// An asker is a call of a tool that asks for its own name.
type asker struct {
	name, run string
	sent      string // what the question with its name was answered with
	isStopped bool
}

// startAskers starts n calls of a server, after others, that ask at once if the server has
// them at once, in an order of their own.
func (g *gateway) startAskers(r *rand.Rand, server config.Server, before, n int) []*asker {
	var all []*asker
	for i, turn := range r.Perm(n) {
		a := &asker{name: fmt.Sprintf("caller %d", before+i)}
		calls, asked := before+n, before+turn
		if server.Parallel != "" {
			calls, asked = 0, 0
		}
		a.run = g.start(ada, "peer__ask_anything", fmt.Sprintf(`{"params":{"message":"Are you %s?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}},`+
			`"calls":%d,"asked":%d}`, a.name, calls, asked))
		all = append(all, a)
	}
	return all
}

// openAsks returns the open questions of calls, whichever run shows them.
func (g *gateway) openAsks(all []*asker) (open []engine.OpenAsk) {
	g.t.Helper()
	for _, a := range all {
		info, err := g.Info(ada, a.run)
		if err != nil {
			g.t.Fatal(err)
		}
		open = append(open, info.Asks...)
	}
	return open
}

// settle answers, declines or cancels a question, and notes what its caller is to get.
func (g *gateway) settle(r *rand.Rand, all []*asker, q engine.OpenAsk) error {
	for _, a := range all {
		if !strings.HasPrefix(q.Question.Message, "Are you "+a.name+"?") {
			continue
		}
		answer := askdata.Answer{Action: []askdata.Action{askdata.Accept, askdata.Decline, askdata.Cancel}[r.IntN(3)]}
		a.sent = `"action":"` + string(answer.Action) + `"`
		if answer.Action == askdata.Accept {
			answer.Content = json.RawMessage(`{"name":"` + a.name + `"}`)
			a.sent += `,"content":{"name":"` + a.name + `"}`
		}
		return g.Answer(g.t.Context(), ada, q.ID, answer, "test")
	}
	g.t.Fatalf("nobody asked %q", q.Question.Message)
	return nil
}

// check checks how the calls ended.
func (g *gateway) check(all []*asker) {
	g.t.Helper()
	for _, a := range all {
		end := g.awaitEnd(ada, a.run)
		got := strings.NewReplacer(" ", "", `\n`, "", `\"`, `"`).Replace(string(end.Result))
		want := strings.ReplaceAll(a.sent, " ", "")
		if !a.isStopped && (end.Status != runlog.Completed || a.sent == "" || !strings.Contains(got, want)) {
			g.t.Errorf("%s got %s (%s: %s), want %s", a.name, got, end.Status, end.Error, want)
		}
	}
}

// checkReplies checks that a child has got as many replies as it has sent requests.
func (g *gateway) checkReplies() {
	g.t.Helper()
	got := ""
	isEven := func() bool {
		got = g.run(ada, "peer__replies", "{}")
		var asked, replied int
		_, err := fmt.Sscanf(strings.Trim(got, `"`), "%d requests, %d replies", &asked, &replied)
		return err == nil && asked == replied
	}
	if !programtest.Poll(isEven) {
		g.t.Errorf("it had %s", got)
	}
}

// askingServers are servers that ask by each of the ways that there are.
func askingServers(t *testing.T) map[string]config.Server {
	separate, alone := child(t, "peer", ""), child(t, "peer", "")
	separate.Parallel, alone.Parallel = config.ParallelSeparate, config.ParallelNever
	return map[string]config.Server{
		"stdio": child(t, "peer", ""), "stdio, a process each": separate, "stdio, one at a time": alone,
		"HTTP": testServer(t, "peer", "2025-11-25"), "HTTP, on the session's stream": testServerWith(t, "peer", testserver.Options{Protocol: "2025-11-25", AskApart: true}),
		"HTTP, 2026-07-28": testServer(t, "peer", "2026-07-28"),
	}
}

// Whatever order the questions of several calls come in, and are answered, declined or
// cancelled in, each call gets the answer to its own.
func TestCallsThatAskAtOnce(t *testing.T) {
	for name, server := range askingServers(t) {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, server)
			before := 0
			for seed := range uint64(8) {
				r := rand.New(rand.NewPCG(seed, 0))
				n := 2 + r.IntN(3)
				all := g.startAskers(r, server, before, n)
				before += n
				open := n
				if server.Parallel == config.ParallelNever {
					open = 1
				}
				for answered := 0; answered < n; answered += open {
					var asks []engine.OpenAsk
					eventually(t, "the questions", func() bool { asks = g.openAsks(all); return len(asks) == open })
					r.Shuffle(len(asks), func(i, j int) { asks[i], asks[j] = asks[j], asks[i] })
					for _, q := range asks { // none is withdrawn before its answer
						if err := g.settle(r, all, q); err != nil {
							t.Fatalf("seed %d: answering %q: %v", seed, q.Question.Message, err)
						}
					}
				}
				g.check(all)
			}
			if server.Command != "" && server.Parallel != config.ParallelSeparate {
				g.checkReplies()
			}
		})
	}
}

// Stopping a run ends its own call, and no other: a question that it shows, but that may be
// another call's, is asked by that one.
func TestStoppedRunsKeepNoQuestionFromOtherCalls(t *testing.T) {
	for name, server := range askingServers(t) {
		if server.Parallel != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, server)
			before := 0
			for seed := range uint64(8) {
				r := rand.New(rand.NewPCG(seed, 1))
				n := 2 + r.IntN(3)
				all := g.startAskers(r, server, before, n)
				before += n
				eventually(t, "the questions", func() bool { return len(g.openAsks(all)) == n })
				stops := 1 + r.IntN(n-1)
				deadline := time.Now().Add(30 * time.Second)
				for g.isAnyActive(all) && time.Now().Before(deadline) {
					if a := all[r.IntN(n)]; stops > 0 && !a.isStopped && r.IntN(2) == 0 {
						a.isStopped = true
						stops--
						if err := g.Cancel(t.Context(), ada, a.run, "test"); err != nil {
							t.Fatal(err)
						}
					} else if asks := g.openAsks(all); len(asks) > 0 {
						_ = g.settle(r, all, asks[r.IntN(len(asks))]) // it may just have moved
					}
				}
				g.check(all)
			}
			if server.Command != "" {
				g.checkReplies()
			}
		})
	}
}

func (g *gateway) isAnyActive(all []*asker) bool {
	for _, a := range all {
		if info, err := g.Info(ada, a.run); err == nil && !info.State.Ended() {
			return true
		}
	}
	return false
}

// startMistaken starts a call that asks, and one of another tool whose run asks that question,
// since it is the latest, and that ends without asking once it is told to.
func (g *gateway) startMistaken(by ...*clientsession.Client) (asking, mistaken string, shown engine.OpenAsk, tell func()) {
	g.t.Helper()
	by = append(by, nil, nil)
	told := filepath.Join(g.t.TempDir(), "told")
	asking = g.startFrom(ada, by[0], "peer__ask_anything", `{"params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}},"calls":2}`)
	g.awaitCalls("peer", 1)
	mistaken = g.startFrom(ada, by[1], "peer__wait", fmt.Sprintf(`{"after":%q}`, told))
	g.awaitAsk(ada, mistaken)
	info, err := g.Info(ada, mistaken)
	if err != nil || len(info.Asks) != 1 {
		g.t.Fatalf("the run asks %+v, %v", info.Asks, err)
	}
	return asking, mistaken, info.Asks[0], func() {
		g.t.Helper()
		if err := os.WriteFile(told, nil, 0o600); err != nil {
			g.t.Fatal(err)
		}
		u, _ := g.Lookup("peer")
		if !programtest.Poll(func() bool { return strings.Contains(fmt.Sprint(u.Status().Stderr), "waited") }) {
			g.t.Fatal("the call doesn't end")
		}
		g.run(ada, "peer__echo", "{}") // by now, its result has arrived
	}
}

// A question stays open though the call whose run asks it has ended, as long as a call is in
// progress that it could belong to. Nobody but that one gets the answer.
func TestQuestionOutlivesTheCallWhoseRunAsksIt(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	asking, mistaken, shown, tell := g.startMistaken()
	if q := shown.Question; q.Message != "Who?" || q.Server != "peer" || q.Tool != "" || shown.Asker() != "The server peer" || !strings.Contains(q.Note, "doesn't say which of them asks this") {
		t.Errorf("the question is %+v", q)
	}
	eventually(t, "the pause of the run that waits for it", func() bool {
		info, err := g.Info(ada, asking)
		return err == nil && strings.Contains(info.Pause(), "which another run asks")
	})
	tell()
	g.answer(ada, shown.ID, askdata.Answer{Action: askdata.Decline})
	if end := g.awaitEnd(ada, asking); !strings.Contains(string(end.Result), "decline") {
		t.Errorf("the call that asked ended with %+v", end)
	}
	if end := g.awaitEnd(ada, mistaken); !strings.Contains(string(end.Result), "waited") {
		t.Errorf("the other one ended with %+v", end)
	}
	g.checkReplies()
}

// Once the last call has ended that a question could belong to, it is withdrawn, whichever run
// asks it, and the server gets its reply.
func TestQuestionOfNoCallIsWithdrawn(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	asking, mistaken, _, tell := g.startMistaken()
	tell()
	if err := g.Cancel(t.Context(), ada, asking, "test"); err != nil {
		t.Fatal(err)
	}
	if w := g.awaitWithdrawn(ada, mistaken); w.Reason != runlog.TakenBack {
		t.Errorf("it was withdrawn as %+v", w)
	}
	if end := g.awaitEnd(ada, mistaken); !strings.Contains(string(end.Result), "waited") {
		t.Errorf("the run that asked it ended with %+v", end)
	}
	g.checkReplies()
}

// If only a call's client can be asked, and it has left, a question is asked in the client of
// another call that it may belong to.
func TestQuestionGoesToTheClientThatIsThere(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	client := func() *clientsession.Client {
		c := &clientsession.Client{Session: "1", Only: &clientsession.Abilities{Forms: true}, Presence: &clientsession.Presence{Grace: time.Millisecond}}
		c.Presence.Enter()
		return c
	}
	there, gone := client(), client()
	asking, mistaken, _, _ := g.startMistaken(there, gone)
	gone.Presence.Leave()
	askID, _ := g.awaitAsk(ada, asking)
	g.answer(ada, askID, askdata.Answer{Action: askdata.Cancel})
	if got := g.textOf(ada, asking); !strings.Contains(got, "cancel") {
		t.Errorf("the upstream got %s", got)
	}
	_ = g.Cancel(t.Context(), ada, mistaken, "test")
}

// Requests to a model and for roots, and addresses to open, find their calls as forms do.
func TestOtherRequestsOfCallsThatAskAtOnce(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	requests := map[string]struct{ params, answer, want string }{
		"sampling/createMessage": {`{"messages":[{"role":"user","content":{"type":"text","text":"Why?"}}],"maxTokens":500}`, `{"text":"Because."}`, "Because."},
		"roots/list":             {`{}`, `{"roots":[{"uri":"file:///a"}]}`, "file:///a"},
		"elicitation/create":     {`{"mode":"url","elicitationId":"1","message":"Sign in","url":"https://example.com/sign-in"}`, `null`, "accept"},
	}
	runs := map[string]string{}
	var all []*asker
	for method, r := range requests {
		runs[method] = g.start(ada, "peer__ask_anything", fmt.Sprintf(`{"method":%q,"params":%s,"calls":%d}`, method, r.params, len(requests)))
		all = append(all, &asker{run: runs[method]})
	}
	eventually(t, "the questions", func() bool { return len(g.openAsks(all)) == len(requests) })
	methods := map[askdata.Kind]string{askdata.KindSample: "sampling/createMessage", askdata.KindRoots: "roots/list", askdata.KindURL: "elicitation/create"}
	for _, q := range g.openAsks(all) {
		g.answer(ada, q.ID, accept(requests[methods[q.Question.Kind]].answer))
	}
	for method, r := range requests {
		if end := g.awaitEnd(ada, runs[method]); !strings.Contains(string(end.Result), r.want) {
			t.Errorf("%s ended with %+v", method, end)
		}
	}
	g.checkReplies()
}

// Where calls follow each other, a call that waits for its turn says so, and what it waits for
// ends however the one before it does.
func TestCallsThatFollowEachOther(t *testing.T) {
	server := child(t, "peer", "")
	server.Parallel = config.ParallelNever
	g := newGateway(t, server)
	first := g.start(ada, "peer__hang", `{}`)
	g.awaitCalls("peer", 1)
	second := g.start(ada, "peer__ask", `{}`)
	g.await(ada, second, "status")
	third := g.start(ada, "peer__echo", `{"text":"last"}`)
	g.await(ada, third, "status")
	for _, id := range []string{second, third} {
		eventually(t, "the pause", func() bool {
			info, err := g.Info(ada, id)
			return err == nil && strings.Contains(info.Pause(), "Waits for another call of the server peer")
		})
	}
	if got := g.run(grace, "peer__echo", `{"text":"hers"}`); !strings.Contains(got, "hers") {
		t.Errorf("another person's call ended with %s", got)
	}
	if err := g.Cancel(t.Context(), ada, first, "test"); err != nil {
		t.Fatal(err)
	}
	g.awaitAsk(ada, second)
	if err := g.Cancel(t.Context(), ada, second, "test"); err != nil {
		t.Fatal(err)
	}
	if got := g.textOf(ada, third); !strings.Contains(got, "last") {
		t.Errorf("the last call returned %s", got)
	}
	if info, err := g.Info(ada, third); err != nil || info.Pause() != "" {
		t.Errorf("in the end, it pauses as %q, %v", info.Pause(), err)
	}
}
