package matrix

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A kind of caller is what a client said that it can do.
type kind struct {
	name    string
	version string // of the protocol
	caps    string
	tool    string // that asks what this kind is there for
	asked   bool   // it is asked; else it is given the link alone
	page    bool   // it is asked to open Beam's page
}

const (
	november2025 = "2025-11-25"
	july2026     = "2026-07-28"
)

// kinds are the callers. One whose calls are tasks belongs here, too, with a
// caller of its own.
var kinds = []kind{
	{name: "none", version: november2025, caps: `{}`, tool: "word"},
	{name: "forms", version: november2025, caps: `{"elicitation":{}}`, tool: "word", asked: true},
	{name: "forms and URL", version: november2025, caps: `{"elicitation":{"form":{},"url":{}}}`, tool: "secret", asked: true, page: true},
	{name: "MRTR", version: july2026, caps: `{"elicitation":{}}`, tool: "word", asked: true},
	{name: "MRTR that can't be asked", version: july2026, caps: `{}`, tool: "word"},
}

// A caller is a client with one call under way.
type caller struct {
	kind
	*wire
	ids      int
	question message // that it was asked, or told the link
	round    string  // the requestState of its last round
	notes    []message
}

// call connects, calls the tool, and waits until it is asked or told the link.
func (k kind) call(w *wire) *caller {
	c := &caller{kind: k, wire: w}
	if k.version != july2026 {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"matrix","version":"1"}}}`, k.version, k.caps))
		c.reply()
		w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	c.request(k.tool, `{}`, "")
	c.hear()
	return c
}

// request sends a tools/call.
func (c *caller) request(tool, args, more string) {
	c.ids++
	meta := `"progressToken":1`
	if c.version == july2026 {
		meta += fmt.Sprintf(`,"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s`, c.version, c.caps)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s,"_meta":{%s}}}`, c.ids, tool, args, more, meta))
}

// hear waits for the question, in whatever form it comes.
func (c *caller) hear() {
	c.t.Helper()
	for {
		m := c.next()
		switch {
		case c.asked && m.Method == "elicitation/create",
			!c.asked && m.Method == "notifications/progress" && strings.Contains(m.Params.Message, "/asks/"):
			c.question = m
			return
		case c.asked && m.Result != nil && m.Result.Type == "input_required":
			c.question, c.round = m, m.Result.State
			return
		case m.Result != nil || m.Error != nil:
			c.t.Fatalf("%s: the call ended before it asked: %s", c.name, m.raw)
		}
	}
}

// reply waits for the response to the last request, and notes what comes before
// it. Progress goes without saying.
func (c *caller) reply() *result {
	c.t.Helper()
	for {
		switch m := c.next(); {
		case m.Error != nil:
			c.t.Fatalf("%s: the call failed: %s", c.name, m.raw)
		case m.Result != nil:
			return m.Result
		case m.Method != "notifications/progress":
			c.notes = append(c.notes, m)
		}
	}
}

// answer sends an answer by the protocol's own way.
func (c *caller) answer(action, word string) {
	a := map[string]any{"action": action}
	if action == "accept" {
		a["content"] = map[string]string{"word": word}
	}
	raw, err := json.Marshal(a)
	must(c.t, err)
	if c.round == "" {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.question.ID, raw))
		return
	}
	c.request(c.tool, `{}`, fmt.Sprintf(`,"requestState":%q,"inputResponses":{"word":%s}`, c.round, raw))
}

// told expects the caller to have been told that somebody else has settled its
// question, if it was asked and its version has a way to say so. One that
// opened a page is told that the page is complete.
func (c *caller) told(action string) {
	c.t.Helper()
	if !c.asked || c.version == july2026 {
		return
	}
	done := false
	for _, m := range c.notes {
		taken := m.Method == "notifications/cancelled" && string(m.Params.RequestID) == string(c.question.ID)
		complete := c.page && action == "accept" && m.Method == "notifications/elicitation/complete"
		done = done || taken || complete
	}
	if !done {
		c.t.Errorf("%s was not told that its question is settled, but %v", c.name, c.notes)
	}
}

// resume takes the run up that a result handed off.
func (c *caller) resume(handedOff *result) {
	c.request("beam_resume", fmt.Sprintf(`{"run":%q}`, handedOff.Meta.Waiting.Run), "")
}
