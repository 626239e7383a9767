package message

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Request is the request that asks a client a question.
type Request struct {
	Method string
	Params any
	// AcceptIsConsent means that an accept only says that the person agreed to
	// open Beam's own page. The answer is given there.
	AcceptIsConsent bool
	shown           string // the end of the message: what the question shows
}

// An InputRequest is a request in the inputRequests of a result (MCP 2026-07-28).
type InputRequest struct {
	Method string `json:"method"`
	Params any    `json:"params,omitempty"`
}

// Input returns the request as one of a result.
func (r *Request) Input() InputRequest { return InputRequest{r.Method, r.Params} }

// ElicitParams are the params of elicitation/create. Mode and ElicitationID came
// with 2025-11-25; the latter was removed with 2026-07-28.
type ElicitParams struct {
	Mode            string          `json:"mode,omitempty"`
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"`
	ElicitationID   string          `json:"elicitationId,omitempty"`
	URL             string          `json:"url,omitempty"`
	Meta            *AskMeta        `json:"_meta,omitempty"`
}

type (
	samplingParams struct {
		*ask.SampleRequest
		Meta *AskMeta `json:"_meta,omitempty"`
	}
	rootsParams struct { // sent even if empty: some SDKs require params
		Meta *AskMeta `json:"_meta,omitempty"`
	}
)

// AskMeta says about a question what MCP has no field for.
type AskMeta struct {
	Kind     askdata.Kind `json:"beam/kind"`
	Key      string       `json:"beam/key"`
	Run      string       `json:"beam/run"`
	Deadline time.Time    `json:"beam/deadline,omitzero"`
}

// An openAsk is a question to be translated. Its meta may be nil.
type openAsk struct {
	id string
	*runlog.Asked
	meta *AskMeta
}

// An askForm returns the request for a question, or the capability that the
// client lacks for it.
type askForm func(*Translator, openAsk) (Request, *MissingCapability, error)

// askForms has the MCP form of every kind of question; see [askdata.Kinds]. A
// question that is answered on Beam's own page only has the form pageRequest,
// whatever its kind.
var askForms = map[askdata.Kind]askForm{
	askdata.KindText:        formRequest,
	askdata.KindSecret:      pageRequest,
	askdata.KindConfirm:     formRequest,
	askdata.KindSelect:      formRequest,
	askdata.KindMultiSelect: formRequest,
	askdata.KindNumber:      formRequest,
	askdata.KindInteger:     formRequest,
	askdata.KindDate:        formRequest,
	askdata.KindDateTime:    formRequest,
	askdata.KindFile:        pageRequest,
	askdata.KindForm:        formRequest,
	askdata.KindURL:         urlRequest,
	askdata.KindSample:      samplingRequest,
	askdata.KindRoots:       rootsRequest,
}

// AskRequest returns the request that asks the client a recorded question, or the
// capability that it lacks for it. It fails if the question's kind is unknown, or
// if it needs Beam's page and there is none.
func (t *Translator) AskRequest(asked *runlog.Asked, askID string) (Request, *MissingCapability, error) {
	return t.askRequest(openAsk{id: askID, Asked: asked})
}

func (t *Translator) askRequest(a openAsk) (Request, *MissingCapability, error) {
	form, ok := askForms[a.Question.Kind]
	switch {
	case !ok:
		return Request{}, nil, fmt.Errorf("unknown kind of question %q", a.Question.Kind)
	case NeedsPage(a.Question):
		form = pageRequest
	}
	return form(t, a)
}

// AskMessage returns the message that asks a recorded question, with AskMeta: a
// request with the question's id. A question of an unknown kind, as a newer Beam
// may have recorded, becomes a log message with its JSON; so does one that the
// client can't be asked.
func (t *Translator) AskMessage(e runlog.Entry) ([]byte, error) {
	a, err := runlog.Decode[runlog.Asked](e)
	if err != nil {
		return nil, err
	}
	if a.Question == nil {
		return t.LogMessage(generators.Info, jsonOrText(e.Data), string(e.Kind)), nil
	}
	id := runlog.AskID(t.RunID, e.Seq)
	meta := &AskMeta{a.Question.Kind, a.Key, t.RunID, a.Deadline}
	r, missing, err := t.askRequest(openAsk{id, &a, meta})
	if err != nil || missing != nil {
		return t.LogMessage(generators.Info, jsonOrText(e.Data), string(e.Kind)), nil
	}
	return Encode(Outgoing{ID: StringID(id), Method: r.Method, Params: r.Params}), nil
}

// formRequest asks in form mode.
func formRequest(t *Translator, a openAsk) (Request, *MissingCapability, error) {
	if !t.Client.SupportsForms() {
		return Request{}, missingForms, nil
	}
	shown := t.shownByTool(a.Question)
	p := ElicitParams{Message: t.questionAndNotes(a.Asked) + shown, Meta: a.meta}
	if t.Client.VersionAtLeast(mcp.ProtocolVersion20251125) {
		p.Mode, p.RequestedSchema = "form", form.RequestedSchemaOf(a.Question)
	} else {
		p.RequestedSchema = form.RequestedSchemaOf20250618(a.Question)
	}
	return Request{Method: string(mcp.MethodElicitationCreate), Params: p, shown: shown}, nil, nil
}

// pageRequest asks in URL mode to open the question's page.
func pageRequest(t *Translator, a openAsk) (Request, *MissingCapability, error) {
	if !t.Client.SupportsURLs() {
		return Request{}, missingURLs, nil
	}
	address, err := t.AskPageURL(a.id)
	if err != nil {
		return Request{}, nil, err
	}
	r := t.openURLRequest(a, address)
	r.AcceptIsConsent = true
	return r, nil, nil
}

// AskPageURL returns the address of a question's page. It carries no authority.
func (t *Translator) AskPageURL(askID string) (string, error) {
	base, err := t.Source.PageBaseURL()
	if err != nil {
		return "", err
	}
	return links.Base(base).Ask(askID), nil
}

// urlRequest asks in URL mode to open the question's own address.
func urlRequest(t *Translator, a openAsk) (Request, *MissingCapability, error) {
	if !t.Client.SupportsURLs() {
		return Request{}, missingURLs, nil
	}
	return t.openURLRequest(a, a.Question.URL), nil, nil
}

func (t *Translator) openURLRequest(a openAsk, address string) Request {
	p := ElicitParams{Mode: "url", Message: t.questionAndNotes(a.Asked), URL: address, Meta: a.meta}
	if !t.Client.IsModern() {
		p.ElicitationID = a.id
	}
	return Request{Method: string(mcp.MethodElicitationCreate), Params: p}
}

// samplingRequest asks for what a model says: of a request that a person has changed and
// approved on Beam's page, the version approved last.
func samplingRequest(t *Translator, a openAsk) (Request, *MissingCapability, error) {
	switch {
	case a.Question.Sample == nil:
		return Request{}, nil, fmt.Errorf("a question of kind %q has no request for a model", a.Question.Kind)
	case !t.Client.SupportsSampling():
		return Request{}, missingSampling, nil
	case len(asking.SampleOf(a.Question).Tools) > 0 && !t.Client.SupportsSamplingTools():
		return Request{}, missingSamplingTools, nil
	}
	request, err := t.Source.ApprovedSample(a.id)
	if err != nil {
		return Request{}, nil, err
	}
	return Request{Method: string(mcp.MethodSamplingCreateMessage), Params: samplingParams{cmp.Or(request, asking.SampleOf(a.Question)), a.meta}}, nil, nil
}

func rootsRequest(t *Translator, a openAsk) (Request, *MissingCapability, error) {
	if !t.Client.SupportsRoots() {
		return Request{}, MissingRoots, nil
	}
	return Request{Method: string(mcp.MethodListRoots), Params: rootsParams{a.meta}}, nil, nil
}

// WithErrors returns the request with what was wrong with the answer before. It stands
// before what the question shows, which may be long.
func (r Request) WithErrors(fields []generators.FieldError) Request {
	p, ok := r.Params.(ElicitParams)
	if !ok || len(fields) == 0 {
		return r
	}
	var text strings.Builder
	text.WriteString(strings.TrimSuffix(p.Message, r.shown))
	text.WriteString("\n\nThe answer was not accepted:")
	for _, f := range fields {
		text.WriteString("\n- " + driver.Sentence(f, driver.FieldOf(f)))
	}
	p.Message = text.String() + r.shown
	r.Params = p
	return r
}
