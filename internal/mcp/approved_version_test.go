package mcp_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// approveRedacted approves the open request to a model without what a person removed from it.
// The model fails.
func (b *testServer) approveRedacted(t *testing.T) {
	t.Helper()
	b.approveVersion(t, &ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("the plan"))}, MaxTokens: 5})
}

// approveVersion approves a version of the open request to a model, or what was asked if it is
// nil. The model fails.
func (b *testServer) approveVersion(t *testing.T, version *ask.SampleRequest) {
	t.Helper()
	synctest.Wait()
	id := must(b.engine.Inbox(operator, 0))[0].ID
	call, err := b.engine.RecordSampling(t.Context(), operator, id, runlog.Sampling{Approved: &runlog.Approval{Model: "m", Request: version}})
	if err == nil {
		_, err = b.engine.RecordSampling(t.Context(), operator, id, runlog.Sampling{Call: call, Ended: &runlog.EndOfSampling{Error: "It broke off."}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func samplingPhoton(task generators.TaskSupport) *generators.Photon {
	return generators.New("sample", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		r, err := ask.Sample(yield, "sample", ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("4711"))}, MaxTokens: 5})
		return r.Text(), err
	}, &generators.Options{Task: task})
}

// A client that has a model of its own isn't sent what a person has removed from a request. One
// that was sent it before is asked anew.
func TestAClientIsSentTheVersionApprovedLast(t *testing.T) {
	const reply = `{"role":"assistant","content":{"type":"text","text":"ok"},"model":"x"}`
	synctest.Test(t, func(t *testing.T) {
		b := newTestServer(t, samplingPhoton(generators.TaskForbidden))
		w := b.connectStdio(t)
		w.initialize("2025-11-25", `{"sampling":{}}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sample"}}`)
		asked := w.nextLine()
		first := jsonMember(t, asked, "id")
		b.approveRedacted(t)
		if got := w.nextLine(); !strings.Contains(got, "notifications/cancelled") || !strings.Contains(got, first) {
			t.Errorf("the first request is not cancelled: %s", got)
		}
		again := w.nextLine()
		second := jsonMember(t, again, "id")
		if !strings.Contains(again, "the plan") || strings.Contains(again, "4711") || second == first {
			t.Errorf("asked again: %s", again)
		}
		w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":%s}`, first, strings.Replace(reply, "ok", "late", 1))
		w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":%s}`, second, reply)
		if got := w.awaitResponse(1); !strings.Contains(got, `"text":"ok"`) {
			t.Errorf("the result is %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newTestServer(t, samplingPhoton(generators.TaskForbidden))
		w := b.connectStdio(t)
		call := func(id int, more string) string {
			w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sample",%s%s}}`, id, modernMeta(`{"sampling":{}}`, ""), more)
			return w.awaitResponse(id)
		}
		asked := call(1, "")
		if !strings.Contains(asked, "4711") {
			t.Fatalf("asked %s", asked)
		}
		b.approveRedacted(t)
		if again := call(2, `,"requestState":`+jsonMember(t, asked, "result", "requestState")); !strings.Contains(again, "the plan") || strings.Contains(again, "4711") {
			t.Errorf("asked again: %s", again)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newTestServer(t, samplingPhoton(generators.TaskRequired))
		w := b.connectStdio(t)
		meta := modernMeta(`{"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, "")
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sample",%s}}`, meta)
		task := jsonMember(t, w.awaitResponse(1), "result", "taskId")
		b.approveRedacted(t)
		w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":%s,%s}}`, task, meta)
		if got := jsonMember(t, w.awaitResponse(2), "result", "inputRequests"); !strings.Contains(got, "the plan") || strings.Contains(got, "4711") {
			t.Errorf("the task asks %s", got)
		}
		w.sendLine(`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":%s,%s}}`, task, meta)
		if got := w.awaitResponse(3); !strings.Contains(jsonMember(t, got, "result", "statusMessage"), "the plan") || strings.Contains(got, "4711") {
			t.Errorf("the task is %s", got)
		}
	})
}

// A client that has a model of its own is asked anew only if what was approved isn't what it was
// asked last, and so also when the request is again as it was asked.
func TestAClientIsSentARequestThatIsAgainAsItWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestServer(t, samplingPhoton(generators.TaskForbidden))
		w := b.connectStdio(t)
		w.initialize("2025-11-25", `{"sampling":{}}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sample"}}`)
		ids := []string{jsonMember(t, w.nextLine(), "id")}
		next := func() string {
			for {
				if line := w.nextLine(); !strings.Contains(line, "notifications/message") {
					return line
				}
			}
		}
		expect := func(text, without string) {
			t.Helper()
			if got := next(); !strings.Contains(got, "notifications/cancelled") || !strings.Contains(got, ids[len(ids)-1]) {
				t.Errorf("the request before is not cancelled: %s", got)
			}
			again := next()
			if !strings.Contains(again, text) || strings.Contains(again, without) {
				t.Errorf("asked again: %s", again)
			}
			ids = append(ids, jsonMember(t, again, "id"))
		}
		b.approveVersion(t, nil) // nothing is sent
		b.approveRedacted(t)
		expect("the plan", "4711")
		b.approveRedacted(t) // nothing is sent
		b.approveVersion(t, nil)
		expect("4711", "the plan")
		b.approveVersion(t, nil) // nothing is sent
		b.approveRedacted(t)
		expect("the plan", "4711")
		slices.Sort(ids)
		if len(slices.Compact(ids)) != 4 {
			t.Errorf("the ids are %s", ids)
		}
		w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"role":"assistant","content":{"type":"text","text":"ok"},"model":"x"}}`, ids[3])
		if got := w.awaitResponse(1); !strings.Contains(got, `"text":"ok"`) {
			t.Errorf("the result is %s", got)
		}
	})
}

// Nor do the texts that tell of the question quote what was removed: the list of the runs that
// wait, and how the run ended.
func TestTextsQuoteTheVersionApprovedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLinkingServer(t, samplingPhoton(generators.TaskForbidden))
		w := b.connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sample"}}`)
		if handedOff := w.awaitResponse(1); !strings.Contains(handedOff, "4711") {
			t.Fatalf("the call is handed off with %s", handedOff)
		}
		before := must(b.engine.Inbox(operator, 0))
		changed, stop := iter.Pull(b.engine.Watch(t.Context(), operator))
		defer stop()
		changed()
		b.approveRedacted(t)
		if _, told := changed(); !told {
			t.Error("an open inbox isn't told")
		}
		var updated []engine.OpenAsk
		for o, err := range b.engine.InboxAfter(operator, engine.Position{}, before) {
			if err != nil {
				t.Fatal(err)
			}
			updated = append(updated, o)
		}
		for name, list := range map[string][]engine.OpenAsk{"the inbox": must(b.engine.Inbox(operator, 0)), "an inbox that is kept up to date": updated} {
			if m := list[0].Question.Message; m != "Request to a model: the plan" {
				t.Errorf("%s has %q", name, m)
			}
		}
		w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"beam_resume","arguments":{}}}`)
		if list := w.awaitResponse(2); !strings.Contains(list, "the plan") || strings.Contains(list, "4711") {
			t.Errorf("the list is %s", list)
		}
		if err := b.engine.Answer(t.Context(), operator, before[0].ID, askdata.Answer{Action: askdata.Decline}, "test"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		info, err := b.engine.Info(operator, before[0].Run)
		if err != nil || !strings.Contains(info.Error, "the plan") || strings.Contains(info.Error, "4711") {
			t.Errorf("the run ended with %q, %v", info.Error, err)
		}
	})
}
