package matrix

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A callerKind is a protocol version and the capabilities that a client declares.
type callerKind struct {
	name         string
	version      string // of MCP
	capabilities string
	tool         string // asks the kind of question that this caller is for
	canBeAsked   bool   // otherwise it gets only the link
	opensPage    bool   // its question is a request to open Beam's page
}

const (
	version20251125 = "2025-11-25"
	version20260728 = "2026-07-28"
)

// callerKinds are the kinds of callers.
var callerKinds = []callerKind{
	{name: "none", version: version20251125, capabilities: `{}`, tool: "word"},
	{name: "forms", version: version20251125, capabilities: `{"elicitation":{}}`, tool: "word", canBeAsked: true},
	{name: "forms and URL", version: version20251125, capabilities: `{"elicitation":{"form":{},"url":{}}}`, tool: "secret", canBeAsked: true, opensPage: true},
	{name: "MRTR", version: version20260728, capabilities: `{"elicitation":{}}`, tool: "word", canBeAsked: true},
	{name: "MRTR that can't be asked", version: version20260728, capabilities: `{}`, tool: "word"},
}

// A caller is a client with one call in progress.
type caller struct {
	callerKind
	*testClient
	lastID        int
	question      serverMessage // the question or the link
	requestState  string        // of its last round trip
	notifications []serverMessage
}

// startCall connects, calls the tool, and waits for the question or the link.
func (k callerKind) startCall(w *testClient) *caller {
	c := &caller{callerKind: k, testClient: w}
	if k.version != version20260728 {
		w.sendLine(fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"matrix","version":"1"}}}`, k.version, k.capabilities))
		c.awaitResult()
		w.sendLine(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	c.sendToolCall(k.tool, `{}`, "")
	c.awaitQuestion()
	return c
}

// sendToolCall sends a tools/call.
func (c *caller) sendToolCall(tool, args, more string) {
	c.lastID++
	meta := `"progressToken":1`
	if c.version == version20260728 {
		meta += fmt.Sprintf(`,"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s`, c.version, c.capabilities)
	}
	c.sendLine(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s,"_meta":{%s}}}`, c.lastID, tool, args, more, meta))
}

// awaitQuestion waits for the question, in whatever form it comes.
func (c *caller) awaitQuestion() {
	c.t.Helper()
	for {
		m := c.nextMessage()
		switch {
		case c.canBeAsked && m.Method == "elicitation/create",
			!c.canBeAsked && m.Method == "notifications/progress" && strings.Contains(m.Params.Message, "/asks/"):
			c.question = m
			return
		case c.canBeAsked && m.Result != nil && m.Result.Type == "input_required":
			c.question, c.requestState = m, m.Result.State
			return
		case m.Result != nil || m.Error != nil:
			c.t.Fatalf("%s: the call ended before it asked: %s", c.name, m.raw)
		}
	}
}

// maskSecret returns an outcome as the caller's result has it: a secret is masked there.
func (c *caller) maskSecret(outcome string) string {
	if word, accepted := strings.CutPrefix(outcome, "accept "); accepted && c.tool == "secret" {
		return strings.TrimSuffix(outcome, word) + "••••"
	}
	return outcome
}

// awaitResult waits for the response to the last request. It collects the notifications
// before it, except progress.
func (c *caller) awaitResult() *toolResult {
	c.t.Helper()
	for {
		switch m := c.nextMessage(); {
		case m.Error != nil:
			c.t.Fatalf("%s: the call failed: %s", c.name, m.raw)
		case m.Result != nil:
			return m.Result
		case m.Method != "notifications/progress":
			c.notifications = append(c.notifications, m)
		}
	}
}

// awaitOutcome is awaitResult, but if the call was handed off before the browser answered, as
// on a busy machine, it resumes the run.
func (c *caller) awaitOutcome() *toolResult {
	c.t.Helper()
	result := c.awaitResult()
	if result.Meta.Waiting.Run == "" {
		return result
	}
	c.callResumeTool(result)
	return c.awaitResult()
}

// sendAnswer sends an answer over MCP.
func (c *caller) sendAnswer(action, word string) {
	a := map[string]any{"action": action}
	if action == "accept" {
		a["content"] = map[string]string{"word": word}
	}
	raw, err := json.Marshal(a)
	must(c.t, err)
	if c.requestState == "" {
		c.sendLine(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.question.ID, raw))
		return
	}
	c.sendToolCall(c.tool, `{}`, fmt.Sprintf(`,"requestState":%q,"inputResponses":{"word":%s}`, c.requestState, raw))
}

// expectSettlementNotice expects that the caller was notified that its question is
// settled, if it was asked and its version has such a notification. A caller that
// opened a page is notified that the elicitation is complete.
func (c *caller) expectSettlementNotice(action string) {
	c.t.Helper()
	if !c.canBeAsked || c.version == version20260728 {
		return
	}
	done := false
	for _, m := range c.notifications {
		withdrawn := m.Method == "notifications/cancelled" && string(m.Params.RequestID) == string(c.question.ID)
		complete := c.opensPage && action == "accept" && m.Method == "notifications/elicitation/complete"
		done = done || withdrawn || complete
	}
	if !done {
		c.t.Errorf("%s was not notified that its question is settled: %v", c.name, c.notifications)
	}
}

// callResumeTool resumes the run of a call that was handed off.
func (c *caller) callResumeTool(handedOff *toolResult) {
	c.sendToolCall("beam_resume", fmt.Sprintf(`{"run":%q}`, handedOff.Meta.Waiting.Run), "")
}
