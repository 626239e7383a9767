package mcp

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A bid is a question as it travels to a client: the request that asks it
// there.
type bid struct {
	method string
	params any
	// consent says that an accept only means that the person agreed to open
	// Beam's own page, where the answer is given.
	consent bool
}

// elicitParams are the params of elicitation/create. Mode and ElicitationID
// came with 2025-11-25; the id went again with 2026-07-28.
type elicitParams struct {
	Mode          string          `json:"mode,omitempty"`
	Message       string          `json:"message"`
	Schema        json.RawMessage `json:"requestedSchema,omitempty"`
	ElicitationID string          `json:"elicitationId,omitempty"`
	URL           string          `json:"url,omitempty"`
}

// A lack is a capability that the client did not declare and that a question
// needs.
type lack struct {
	name     string // in a sentence: "elicitation.url"
	required mcp.ClientCapabilities
}

func (l *lack) Error() string {
	return "the MCP client can't be asked this: it did not declare the capability " + l.name
}

// and is what both lack together.
func (l *lack) and(other *lack) *lack {
	if l == nil || l.name == other.name {
		return other
	}
	both := &lack{l.name + " and " + other.name, l.required}
	if other.required.Roots != nil {
		both.required.Roots = other.required.Roots
	}
	if s := other.required.Sampling; s != nil && (both.required.Sampling == nil || s.Tools != nil) {
		both.required.Sampling = s
	}
	if e := other.required.Elicitation; e != nil {
		merged := *e
		if old := both.required.Elicitation; old != nil {
			merged.Form, merged.URL = cmp.Or(e.Form, old.Form), cmp.Or(e.URL, old.URL)
		}
		both.required.Elicitation = &merged
	}
	return both
}

// bid is what to send for a question; [lack] if the client can't take it. Before
// 2025-11-25 there is no way to show a page.
func (c *call) bid(q *ask.Question, askID string) (bid, *lack, error) {
	if q.OnPage() {
		return c.page(q, askID)
	}
	switch q.Kind {
	case ask.KindURL:
		b, missing := c.url(q.Message, q.URL, askID)
		return b, missing, nil
	case ask.KindSample:
		b, missing := c.sample(q)
		return b, missing, nil
	case ask.KindRoots:
		if !c.client.roots() {
			return bid{}, &lack{"roots", needsRoots}, nil
		}
		return bid{method: string(mcp.MethodListRoots), params: struct{}{}}, nil, nil // the Go SDK wants params
	}
	if !c.client.forms() {
		return bid{}, &lack{"elicitation", needsForms}, nil
	}
	p := elicitParams{Message: q.Message}
	if c.client.since(november2025) {
		p.Mode, p.Schema = "form", q.Fields.RequestedSchema()
	} else {
		p.Schema = q.Fields.RequestedSchemaJune()
	}
	return bid{method: string(mcp.MethodElicitationCreate), params: p}, nil, nil
}

// page asks to open the question's page at Beam.
func (c *call) page(q *ask.Question, askID string) (bid, *lack, error) {
	if !c.client.urls() {
		return bid{}, &lack{"elicitation.url", needsURLs}, nil
	}
	address, err := c.pageOf(askID)
	if err != nil {
		return bid{}, nil, err
	}
	b, missing := c.url(q.Message, address, askID)
	b.consent = true
	return b, missing, nil
}

func (c *call) url(message, url, askID string) (bid, *lack) {
	if !c.client.urls() {
		return bid{}, &lack{"elicitation.url", needsURLs}
	}
	p := elicitParams{Mode: "url", Message: message, URL: url}
	if !c.client.modern() {
		p.ElicitationID = askID
	}
	return bid{method: string(mcp.MethodElicitationCreate), params: p}, nil
}

func (c *call) sample(q *ask.Question) (bid, *lack) {
	switch {
	case !c.client.samples():
		return bid{}, &lack{"sampling", needsSampling}
	case len(q.Sample.Tools) > 0 && !c.client.samplesWithTools():
		return bid{}, &lack{"sampling.tools", needsSamplingTools}
	}
	return bid{method: string(mcp.MethodSamplingCreateMessage), params: q.Sample}, nil
}

// What -32021 says is missing.
var (
	needsForms         = mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}}}
	needsURLs          = mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: &struct{}{}}}
	needsSampling      = mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}
	needsSamplingTools = mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{Tools: &struct{}{}}}
	needsRoots         = func() (c mcp.ClientCapabilities) {
		_ = json.Unmarshal([]byte(`{"roots":{}}`), &c)
		return c
	}()
)

// read reads a client's result for a question. A sample and the roots have no
// action: to answer is to accept.
func (c *call) read(q *ask.Question, result json.RawMessage) (ask.Answer, error) {
	if q.Kind == ask.KindSample || q.Kind == ask.KindRoots {
		return ask.Answer{Action: ask.Accept, Content: result}, nil
	}
	var a struct {
		Action  ask.Action      `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(result, &a); err != nil {
		return ask.Answer{}, wrong("action", "the result must be an object with an action: accept, decline or cancel")
	}
	if a.Action != ask.Accept {
		return ask.Answer{Action: a.Action}, nil
	}
	if !c.client.since(november2025) && len(q.Fields) > 0 {
		content, err := q.Fields.FromJune(a.Content)
		if err != nil {
			return ask.Answer{}, wrong("content", err.Error())
		}
		a.Content = content
	}
	return ask.Answer{Action: ask.Accept, Content: a.Content}, nil
}

func wrong(field, message string) error {
	return &generators.InvalidError{Fields: []generators.FieldError{generators.At(field, message)}}
}

// again is the bid once more, saying what was wrong with the answer before.
func (b bid) again(fields []generators.FieldError) bid {
	p, ok := b.params.(elicitParams)
	if !ok || len(fields) == 0 {
		return b
	}
	var said strings.Builder
	said.WriteString(p.Message)
	said.WriteString("\n\nThe answer could not be taken:")
	for _, f := range fields {
		said.WriteString("\n- ")
		if name := f.Field(); name != "" {
			said.WriteString(name + " ")
		}
		said.WriteString(f.Message)
	}
	p.Message = said.String()
	b.params = p
	return b
}
