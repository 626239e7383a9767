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
	messages := make([]Message, 0, len(batch))
	for _, e := range batch {
		if e.Seq <= j.after {
			if err := j.passEntry(e); err != nil {
				return nil, err
			}
			if _, err := j.translator.Notification(&j.state, e); err != nil {
				return nil, err
			}
			continue
		}
		version, err := j.newVersion(e)
		if err != nil {
			return nil, err
		}
		messages = append(messages, version...)
		m, err := j.renderEntry(e)
		if err != nil {
			return nil, err
		}
		switch {
		case m.Data != nil:
			messages = append(messages, m)
		case version != nil:
			messages[len(messages)-1].ID = e.Seq
		}
	}
	return messages, nil
}

// renderEntry returns the message for an entry, without data if there is none.
func (j *JSONRPCRenderer) renderEntry(e runlog.Entry) (Message, error) {
	if e.Kind == runlog.KindFinished {
		return j.renderEnd(e)
	}
	data, err := j.translate(e)
	return Message{ID: e.Seq, Data: data}, err
}

// translate returns the message for an entry before the last, or nil if there is none.
func (j *JSONRPCRenderer) translate(e runlog.Entry) ([]byte, error) {
	switch e.Kind {
	case runlog.KindAsked:
		if data, err := j.excludedMessage(e); data != nil || err != nil {
			return data, err
		}
		data, err := j.translator.AskMessage(e)
		j.keepSample(e, data)
		return data, err
	case runlog.KindAnswered, runlog.KindWithdrawn:
		s, err := runlog.Decode[message.Settlement](e)
		if err != nil {
			return nil, err
		}
		delete(j.samples, s.AskSeq)
		if j.excluded[s.AskSeq] {
			return nil, nil // it was not asked
		}
		return message.EncodeCancelled(runlog.AskID(j.translator.RunID, s.AskSeq), s.Describe()), nil
	}
	return j.translator.Notification(&j.state, e)
}

// passEntry notes a question that the reader has been sent before, or the version of its request
// to a model.
func (j *JSONRPCRenderer) passEntry(e runlog.Entry) error {
	switch e.Kind {
	case runlog.KindAsked:
		excluded, err := j.excludedMessage(e)
		if excluded == nil {
			j.keepSample(e, nil)
		}
		return err
	case runlog.KindSampling:
		d, err := runlog.Decode[runlog.Sampling](e)
		if sent := j.samples[d.AskSeq]; sent != nil && d.Approved != nil {
			sent.changed = d.Approved.Request != nil
		}
		return err
	}
	return nil
}

func (j *JSONRPCRenderer) keepSample(e runlog.Entry, data []byte) {
	if asked, err := runlog.Decode[runlog.Asked](e); err == nil && asked.Question != nil && asked.Question.Sample != nil {
		j.samples[e.Seq] = &sentSample{asked: e, data: data}
	}
}

// newVersion returns the messages that replace a request to a model which a person has changed
// and approved: its cancellation, and the new version with the same id. There are none if the
// reader was sent that version.
func (j *JSONRPCRenderer) newVersion(e runlog.Entry) ([]Message, error) {
	if e.Kind != runlog.KindSampling {
		return nil, nil
	}
	d, err := runlog.Decode[runlog.Sampling](e)
	sent := j.samples[d.AskSeq]
	if err != nil || d.Approved == nil || sent == nil {
		return nil, err
	}
	data, err := j.translator.AskMessage(sent.asked)
	if err != nil || bytes.Equal(data, sent.data) || sent.data == nil && d.Approved.Request == nil && !sent.changed {
		return nil, err
	}
	sent.data = data
	return []Message{{Data: message.EncodeCancelled(runlog.AskID(j.translator.RunID, d.AskSeq), "a person has changed and approved the request")}, {Data: data}}, nil
}

// excludedMessage returns a log message in the place of a question that the reader may not
// answer, or nil for others.
func (j *JSONRPCRenderer) excludedMessage(e runlog.Entry) ([]byte, error) {
	asked, err := runlog.Decode[runlog.Asked](e)
	if err != nil || asked.Question == nil {
		return nil, err
	}
	who := j.excludes(asked.Question)
	if who == "" {
		return nil, nil
	}
	j.excluded[e.Seq] = true
	return j.translator.LogMessage(generators.Notice, "Waits for "+who+" to answer: "+message.LineSaidBy(asked.Question, j.translator.Photon.Name()), "log"), nil
}

// renderEnd returns the message for the end of the run, whose result may be large.
func (j *JSONRPCRenderer) renderEnd(e runlog.Entry) (m Message, err error) {
	end, err := runlog.Decode[runlog.Finished](e)
	if err != nil {
		return m, err
	}
	result, err := j.translator.Result(j.ctx, &j.state, end)
	if err != nil {
		return m, err
	}
	if large := result.TakeLarge(); large != nil {
		m.WriteData = large.WriteMessage
	}
	m.ID, m.Data = e.Seq, message.EncodeResult(message.StringID(j.translator.RunID), result)
	return m, nil
}

// Broken implements breaker: the response is an error.
func (j *JSONRPCRenderer) Broken(err error) ([]Message, error) {
	data := message.EncodeError(message.StringID(j.translator.RunID), message.Errorf(mcp.INTERNAL_ERROR, "%v", err))
	return []Message{{Data: data}}, nil
}
