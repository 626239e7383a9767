package sse

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/runlog"
)

// JSONRPCRenderer renders a run as MCP would tell it: each message is one JSON-RPC 2.0
// message. Progress and logs are notifications (MCP 2025-11-25, Utilities), a
// question is an elicitation/create, sampling/createMessage or roots/list
// request whose id is the ask's, its settlement a notifications/cancelled with
// that id, and the end the response to the run, whose id it bears.
type JSONRPCRenderer struct {
	// RunID is the run's id, also the progress token.
	RunID string
	// LoggerName names log messages that say no name: the photon.
	LoggerName string
	// BaseURL is the origin that addresses in messages begin with, as in
	// "http://127.0.0.1:3008".
	BaseURL string
}

// jsonrpcMessage is a JSON-RPC 2.0 message.
type jsonrpcMessage struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id,omitempty"`
	Method  string `json:"method,omitempty"`
	Params  any    `json:"params,omitempty"`
	Result  any    `json:"result,omitempty"`
	Error   *fault `json:"error,omitempty"`
}

// fault is a JSON-RPC 2.0 error.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

const internalError = -32603

// The params and the result of the messages, as MCP has them; _meta says what
// MCP has no word for.
type (
	progressParams struct {
		Token    string  `json:"progressToken"`
		Progress float64 `json:"progress"`
		Total    float64 `json:"total,omitempty"`
		Message  string  `json:"message,omitempty"`
	}
	messageParams struct {
		Level  generators.Level `json:"level"`
		Logger string           `json:"logger"`
		Data   any              `json:"data"`
		Meta   messageMeta      `json:"_meta"`
	}
	messageMeta struct {
		Kind string `json:"beam/kind"` // of the event
	}
	artifactData struct {
		Title     string `json:"title"`
		MediaType string `json:"mediaType"`
		Size      int64  `json:"size"`
		URL       string `json:"url"`
	}
	elicitParams struct {
		Mode            string          `json:"mode"`
		Message         string          `json:"message"`
		RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"`
		ElicitationID   string          `json:"elicitationId,omitempty"`
		URL             string          `json:"url,omitempty"`
		Meta            elicitMeta      `json:"_meta"`
	}
	elicitMeta struct {
		Kind     ask.Kind  `json:"beam/kind"`
		Key      string    `json:"beam/key"`
		Run      string    `json:"beam/run"`
		Deadline time.Time `json:"beam/deadline,omitzero"`
	}
	samplingParams struct {
		*ask.SampleRequest
		Meta elicitMeta `json:"_meta"`
	}
	rootsParams struct {
		Meta elicitMeta `json:"_meta"`
	}
	cancelledParams struct {
		RequestID string `json:"requestId"`
		Reason    string `json:"reason"`
	}
	toolResult struct {
		Content    []textContent   `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
		Meta       resultMeta      `json:"_meta"`
	}
	textContent struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	resultMeta struct {
		Status runlog.FinishStatus `json:"beam/status"`
	}
)

// Render implements [Renderer].
func (j *JSONRPCRenderer) Render(batch []runlog.Entry) ([]Message, error) {
	messages := make([]Message, 0, len(batch))
	for _, e := range batch {
		m, err := j.messageFor(e)
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		m.Version = "2.0"
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		messages = append(messages, Message{ID: e.Seq, Data: raw})
	}
	return messages, nil
}

// Broken implements [Breaker]: the run's response is an error.
func (j *JSONRPCRenderer) Broken(err error) ([]Message, error) {
	raw, err := json.Marshal(jsonrpcMessage{Version: "2.0", ID: j.RunID, Error: &fault{internalError, err.Error()}})
	return []Message{{Data: raw}}, err
}

// messageFor is the message that tells an entry; nil if none does.
func (j *JSONRPCRenderer) messageFor(e runlog.Entry) (*jsonrpcMessage, error) {
	switch e.Kind {
	case runlog.KindStarted, runlog.KindClaimed, runlog.KindStepped:
		return nil, nil
	case runlog.KindAsked:
		a, err := runlog.Decode[runlog.Asked](e)
		if err != nil {
			return nil, err
		}
		return j.askRequest(e.Seq, a), nil
	case runlog.KindAnswered:
		a, err := runlog.Decode[runlog.Answered](e)
		return j.cancelledNotification(a.AskSeq, string(a.Answer.Action)+" from "+a.Surface), err
	case runlog.KindWithdrawn:
		w, err := runlog.Decode[runlog.Withdrawn](e)
		how := string(w.Reason)
		if w.Error != "" {
			how += ": " + w.Error
		}
		return j.cancelledNotification(w.AskSeq, how), err
	case runlog.KindFinished:
		f, err := runlog.Decode[runlog.Finished](e)
		return &jsonrpcMessage{ID: j.RunID, Result: newToolResult(f)}, err
	}
	event, err := generators.Decode(string(e.Kind), e.Data)
	if err != nil {
		return nil, err
	}
	return j.eventNotification(event, e.Seq), nil
}

func (j *JSONRPCRenderer) eventNotification(eventNotification generators.Event, seq uint64) *jsonrpcMessage {
	switch e := eventNotification.(type) {
	case *generators.ProgressEvent:
		return &jsonrpcMessage{Method: "notifications/progress", Params: progressParams{j.RunID, e.Done, e.Total, e.Text}}
	case *generators.LogEvent:
		return j.logNotification(e.Level, e.Logger, e.Data, "log")
	case *generators.StatusEvent:
		return j.logNotification(e.Level, "", e.Text, "status")
	case *generators.ToastEvent:
		return j.logNotification(e.Level, "", e.Text, "toast")
	case *generators.ChunkEvent:
		return j.logNotification(generators.Info, "", e.Text, "chunk")
	case *generators.Artifact:
		url := fmt.Sprintf("%s/runs/%s/artifacts/%d", j.BaseURL, j.RunID, seq)
		return j.logNotification(generators.Info, "", artifactData{e.Title, e.MediaType, e.Size, url}, "artifact")
	}
	return nil
}

// logNotification is a notifications/message.
func (j *JSONRPCRenderer) logNotification(level generators.Level, logger string, data any, kind string) *jsonrpcMessage {
	return &jsonrpcMessage{Method: "notifications/message", Params: messageParams{level.Syslog(), cmp.Or(logger, j.LoggerName), data, messageMeta{kind}}}
}

// askRequest is the question as the request that MCP has for its kind (MCP
// 2025-11-25, Client Features).
func (j *JSONRPCRenderer) askRequest(seq uint64, a runlog.Asked) *jsonrpcMessage {
	r := &jsonrpcMessage{ID: runlog.AskID(j.RunID, seq)}
	switch q := a.Question; {
	case q.Kind == ask.KindSample && q.Sample != nil:
		r.Method, r.Params = "sampling/createMessage", samplingParams{q.Sample, j.askMeta(a)}
	case q.Kind == ask.KindRoots:
		r.Method, r.Params = "roots/list", rootsParams{j.askMeta(a)}
	default:
		r.Method, r.Params = "elicitation/create", j.elicitationParams(seq, a)
	}
	return r
}

func (j *JSONRPCRenderer) askMeta(a runlog.Asked) elicitMeta {
	return elicitMeta{a.Question.Kind, a.Key, j.RunID, a.Deadline}
}

// elicitationParams is the params of elicitation/create: form mode where MCP has a
// form for the question, else URL mode, to Beam's own page for secrets and
// files, and for an address that is open until the person says there that they
// are done (MCP 2025-11-25, Client Features, Elicitation).
func (j *JSONRPCRenderer) elicitationParams(seq uint64, a runlog.Asked) elicitParams {
	q, id := a.Question, runlog.AskID(j.RunID, seq)
	p := elicitParams{Mode: "url", Message: q.Message, ElicitationID: id, Meta: j.askMeta(a)}
	switch {
	case q.OnPage():
		p.URL = j.BaseURL + "/asks/" + id
	case q.Kind == ask.KindURL:
		p.URL = q.URL
	default:
		p.Mode, p.ElicitationID, p.RequestedSchema = "form", "", form.RequestedSchema(q.Fields)
	}
	return p
}

func (j *JSONRPCRenderer) cancelledNotification(seq uint64, how string) *jsonrpcMessage {
	return &jsonrpcMessage{Method: "notifications/cancelled", Params: cancelledParams{runlog.AskID(j.RunID, seq), how}}
}

// newToolResult is a run's end as the result of tools/call.
func newToolResult(f runlog.Finished) toolResult {
	r := toolResult{Meta: resultMeta{f.Status}}
	if f.Status != runlog.Completed {
		r.IsError, r.Content = true, textBlocks(f.Error)
		return r
	}
	r.Content = textBlocks(f.ResultText())
	if len(f.Result) > 0 && f.Result[0] == '{' {
		r.Structured = f.Result
	}
	return r
}

func textBlocks(s string) []textContent { return []textContent{{"text", s}} }
