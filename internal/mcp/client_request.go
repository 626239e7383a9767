package mcp

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/form"
)

// A clientRequest is a question as it travels to a client: the request that asks it
// there.
type clientRequest struct {
	method string
	params any
	// acceptIsConsent says that an accept only means that the person agreed to open
	// Beam's own page, where the answer is given.
	acceptIsConsent bool
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

// A missingCapability is a capability that the client did not declare and that a question
// needs.
type missingCapability struct {
	name     string // in a sentence: "elicitation.url"
	required mcp.ClientCapabilities
}

func (m *missingCapability) Error() string {
	return "the MCP client can't be asked this: it did not declare the capability " + m.name
}

// merge is what both lack together.
func (m *missingCapability) merge(other *missingCapability) *missingCapability {
	if m == nil || m.name == other.name {
		return other
	}
	both := &missingCapability{m.name + " and " + other.name, m.required}
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

// buildClientRequest is what to send for a question; [missingCapability] if the client can't take it. Before
// 2025-11-25 there is no way to show a page.
func (c *call) buildClientRequest(q *ask.Question, askID string) (clientRequest, *missingCapability, error) {
	if q.OnPage() {
		return c.buildPageRequest(q, askID)
	}
	switch q.Kind {
	case ask.KindURL:
		b, missing := c.buildURLRequest(q.Message, q.URL, askID)
		return b, missing, nil
	case ask.KindSample:
		b, missing := c.buildSamplingRequest(q)
		return b, missing, nil
	case ask.KindRoots:
		if !c.client.supportsRoots() {
			return clientRequest{}, &missingCapability{"roots", rootsCapability}, nil
		}
		return clientRequest{method: string(mcp.MethodListRoots), params: struct{}{}}, nil, nil // the Go SDK wants params
	}
	if !c.client.supportsForms() {
		return clientRequest{}, &missingCapability{"elicitation", formsCapability}, nil
	}
	p := elicitParams{Message: q.Message}
	if c.client.versionAtLeast(version20251125) {
		p.Mode, p.Schema = "form", form.RequestedSchema(q.Fields)
	} else {
		p.Schema = form.RequestedSchema20250618(q.Fields)
	}
	return clientRequest{method: string(mcp.MethodElicitationCreate), params: p}, nil, nil
}

// buildPageRequest asks to open the question's page at Beam.
func (c *call) buildPageRequest(q *ask.Question, askID string) (clientRequest, *missingCapability, error) {
	if !c.client.supportsURLs() {
		return clientRequest{}, &missingCapability{"elicitation.url", urlsCapability}, nil
	}
	address, err := c.askPageURL(askID)
	if err != nil {
		return clientRequest{}, nil, err
	}
	b, missing := c.buildURLRequest(q.Message, address, askID)
	b.acceptIsConsent = true
	return b, missing, nil
}

func (c *call) buildURLRequest(message, buildURLRequest, askID string) (clientRequest, *missingCapability) {
	if !c.client.supportsURLs() {
		return clientRequest{}, &missingCapability{"elicitation.url", urlsCapability}
	}
	p := elicitParams{Mode: "url", Message: message, URL: buildURLRequest}
	if !c.client.isModern() {
		p.ElicitationID = askID
	}
	return clientRequest{method: string(mcp.MethodElicitationCreate), params: p}, nil
}

func (c *call) buildSamplingRequest(q *ask.Question) (clientRequest, *missingCapability) {
	switch {
	case !c.client.supportsSampling():
		return clientRequest{}, &missingCapability{"sampling", samplingCapability}
	case len(q.Sample.Tools) > 0 && !c.client.supportsSamplingTools():
		return clientRequest{}, &missingCapability{"sampling.tools", samplingToolsCapability}
	}
	return clientRequest{method: string(mcp.MethodSamplingCreateMessage), params: q.Sample}, nil
}

// What -32021 says is missing.
var (
	formsCapability         = mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}}}
	urlsCapability          = mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: &struct{}{}}}
	samplingCapability      = mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}
	samplingToolsCapability = mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{Tools: &struct{}{}}}
	rootsCapability         = func() (c mcp.ClientCapabilities) {
		_ = json.Unmarshal([]byte(`{"roots":{}}`), &c)
		return c
	}()
)

// parseAnswer reads a client's result for a question. A sample and the roots have no
// action: to answer is to accept.
func (c *call) parseAnswer(q *ask.Question, result json.RawMessage) (ask.Answer, error) {
	if q.Kind == ask.KindSample || q.Kind == ask.KindRoots {
		return ask.Answer{Action: ask.Accept, Content: result}, nil
	}
	var a struct {
		Action  ask.Action      `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(result, &a); err != nil {
		return ask.Answer{}, invalidField("action", "the result must be an object with an action: accept, decline or cancel")
	}
	if a.Action != ask.Accept {
		return ask.Answer{Action: a.Action}, nil
	}
	if !c.client.versionAtLeast(version20251125) && len(q.Fields) > 0 {
		content, err := form.ContentFrom20250618(q.Fields, a.Content)
		if err != nil {
			return ask.Answer{}, invalidField("content", err.Error())
		}
		a.Content = content
	}
	return ask.Answer{Action: ask.Accept, Content: a.Content}, nil
}

func invalidField(field, message string) error {
	return &generators.InvalidError{Fields: []generators.FieldError{generators.At(field, message)}}
}

// withErrors is the bid once more, saying what was wrong with the answer before.
func (r clientRequest) withErrors(fields []generators.FieldError) clientRequest {
	p, ok := r.params.(elicitParams)
	if !ok || len(fields) == 0 {
		return r
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
	r.params = p
	return r
}
