package sse

import (
	"bytes"
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// A JSONRPCRun is a run to be rendered by [NewJSONRPCRenderer].
type JSONRPCRun struct {
	// ID is the run's id. It is also the progress token, and the id of the
	// response that ends the stream.
	ID string
	// PhotonName is the name of the run's photon, and of the logger of log
	// messages that name none.
	PhotonName string
	// Photon is the run's photon; nil if it is no longer registered.
	Photon *generators.Photon
	// Source gives what the log only refers to.
	Source message.Source
	// Excludes returns who may answer a question if the reader may not, and otherwise "".
	// Nil means that the reader may answer all.
	Excludes func(*askdata.Question) string
}

// A JSONRPCRenderer renders a run as MCP messages: one JSON-RPC 2.0 message for each
// entry, as package message translates it for a client with all capabilities.
// The end of the run is the response to a request whose id is the run's.
type JSONRPCRenderer struct {
	ctx        context.Context // for reading artifacts
	after      uint64
	translator message.Translator
	state      message.State
	excludes   func(*askdata.Question) string
	excluded   map[uint64]bool // the ordinals of questions that the reader may not answer
	samples    map[uint64]*sentSample
}

// A sentSample is an open request to a model, and the message that the reader was sent last;
// nil if this isn't known.
type sentSample struct {
	asked   runlog.Entry
	data    []byte
	changed bool // what the reader was sent is, as far as is known, a version that a person has changed
}

var (
	_ Renderer = (*JSONRPCRenderer)(nil)
	_ breaker  = (*JSONRPCRenderer)(nil)
)

// NewJSONRPCRenderer returns a renderer for the entries that follow the ordinal after.
// It must see the run's log from its beginning, so that a resumed stream has the same
// progress and the same result as an uninterrupted one.
func NewJSONRPCRenderer(ctx context.Context, run JSONRPCRun, after uint64) *JSONRPCRenderer {
	if run.Photon == nil {
		run.Photon = message.PlaceholderPhoton(run.PhotonName)
	}
	if run.Excludes == nil {
		run.Excludes = func(*askdata.Question) string { return "" }
	}
	return &JSONRPCRenderer{ctx: ctx, after: after, excludes: run.Excludes, excluded: map[uint64]bool{}, samples: map[uint64]*sentSample{}, translator: message.Translator{
		Client: allCapabilities, Photon: run.Photon, RunID: run.ID,
		ProgressToken: message.StringID(run.ID), Annotated: true, Source: run.Source,
	}}
}

// allCapabilities is the client that reads a stream: questions that it can't ask
// are answered elsewhere.
var allCapabilities = &message.Client{
	Version: mcp.ProtocolVersion20251125,
	Capabilities: mcp.ClientCapabilities{
		Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}},
		Sampling:    &mcp.SamplingCapability{Tools: &struct{}{}, Context: &struct{}{}},
		Roots: &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{},
	},
	LogLevel: message.SeverityDebug,
}

// Render implements [Renderer].
func (j *JSONRPCRenderer) Render(batch []runlog.Entry) ([]Message, error) {
	before := sentEntries{j.countProgress, j}
	now := &newEntries{JSONRPCRenderer: j, messages: make([]Message, 0, len(batch))}
	now.Rest = now.notify
	for _, e := range batch {
		var v runlog.Visitor = now
		if e.Seq <= j.after {
			v = before
		}
		if err := e.Visit(v); err != nil {
			return nil, err
		}
	}
	return now.messages, nil
}

// sentEntries visits the entries that the reader has been sent before, for what later messages
// depend on.
type sentEntries struct {
	runlog.Rest
	*JSONRPCRenderer
}

func (j *JSONRPCRenderer) countProgress(e runlog.Entry) error {
	_, err := j.translator.Notification(&j.state, e)
	return err
}

func (s sentEntries) Asked(e runlog.Entry, d runlog.Asked) error {
	if s.excludedMessage(e, d) == nil {
		s.keepSample(e, d, nil)
	}
	return nil
}

// Sampling notes the version of a request to a model.
func (s sentEntries) Sampling(e runlog.Entry, d runlog.Sampling) error {
	if sent := s.samples[d.AskSeq]; sent != nil && d.Approved != nil {
		sent.changed = d.Approved.Request != nil
	}
	return s.countProgress(e)
}

// newEntries visits the entries that the reader hasn't been sent, and collects their messages.
type newEntries struct {
	runlog.Rest
	*JSONRPCRenderer
	messages []Message
}

// send adds the message for an entry, unless there is none.
func (n *newEntries) send(e runlog.Entry, data []byte) {
	if data != nil {
		n.messages = append(n.messages, Message{ID: e.Seq, Data: data})
	}
}

func (n *newEntries) notify(e runlog.Entry) error {
	data, err := n.translator.Notification(&n.state, e)
	n.send(e, data)
	return err
}

func (n *newEntries) Asked(e runlog.Entry, d runlog.Asked) error {
	if data := n.excludedMessage(e, d); data != nil {
		n.send(e, data)
		return nil
	}
	data, err := n.translator.AskMessage(e)
	n.keepSample(e, d, data)
	n.send(e, data)
	return err
}

func (n *newEntries) Answered(e runlog.Entry, _ runlog.Answered) error   { return n.settle(e) }
func (n *newEntries) Withdrawn(e runlog.Entry, _ runlog.Withdrawn) error { return n.settle(e) }

func (n *newEntries) settle(e runlog.Entry) error {
	s, err := runlog.Decode[message.Settlement](e)
	if err != nil {
		return err
	}
	delete(n.samples, s.AskSeq)
	if !n.excluded[s.AskSeq] { // otherwise it was not asked
		n.send(e, message.EncodeCancelled(runlog.AskID(n.translator.RunID, s.AskSeq), s.Describe()))
	}
	return nil
}

// Sampling replaces a request to a model that a person has changed and approved, unless the reader
// was sent that version: by its cancellation, and the new version with the same id.
func (n *newEntries) Sampling(e runlog.Entry, d runlog.Sampling) error {
	replaced, err := n.replaceSample(d)
	if err != nil {
		return err
	}
	if err := n.notify(e); err != nil {
		return err
	}
	if last := len(n.messages) - 1; replaced && n.messages[last].ID == 0 {
		n.messages[last].ID = e.Seq
	}
	return nil
}

// Finished sends the end of the run, whose result may be large.
func (n *newEntries) Finished(e runlog.Entry, end runlog.Finished) error {
	result, err := n.translator.Result(n.ctx, &n.state, end)
	if err != nil {
		return err
	}
	m := Message{ID: e.Seq}
	if large := result.TakeLarge(); large != nil {
		m.WriteData = large.WriteMessage
	}
	m.Data = message.EncodeResult(message.StringID(n.translator.RunID), result)
	n.messages = append(n.messages, m)
	return nil
}

// replaceSample reports whether an entry about a request to a model had it replaced.
func (n *newEntries) replaceSample(d runlog.Sampling) (bool, error) {
	sent := n.samples[d.AskSeq]
	if d.Approved == nil || sent == nil {
		return false, nil
	}
	data, err := n.translator.AskMessage(sent.asked)
	if err != nil || bytes.Equal(data, sent.data) || sent.data == nil && d.Approved.Request == nil && !sent.changed {
		return false, err
	}
	sent.data = data
	cancelled := message.EncodeCancelled(runlog.AskID(n.translator.RunID, d.AskSeq), "a person has changed and approved the request")
	n.messages = append(n.messages, Message{Data: cancelled}, Message{Data: data})
	return true, nil
}

func (j *JSONRPCRenderer) keepSample(e runlog.Entry, d runlog.Asked, data []byte) {
	if d.Question != nil && d.Question.Sample != nil {
		j.samples[e.Seq] = &sentSample{asked: e, data: data}
	}
}

// excludedMessage returns a log message in the place of a question that the reader may not
// answer, or nil for others.
func (j *JSONRPCRenderer) excludedMessage(e runlog.Entry, d runlog.Asked) []byte {
	if d.Question == nil {
		return nil
	}
	who := j.excludes(d.Question)
	if who == "" {
		return nil
	}
	j.excluded[e.Seq] = true
	return j.translator.LogMessage(generators.Notice, "Waits for "+who+" to answer: "+message.LineSaidBy(d.Question, j.translator.Photon.Name()), "log")
}

// Broken implements breaker: the response is an error.
func (j *JSONRPCRenderer) Broken(err error) ([]Message, error) {
	data := message.EncodeError(message.StringID(j.translator.RunID), message.Errorf(mcp.INTERNAL_ERROR, "%v", err))
	return []Message{{Data: data}}, nil
}
