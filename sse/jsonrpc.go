package sse

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// JSONRPC renders a run as MCP would tell it: each message is one JSON-RPC 2.0
// message. Progress and logs are notifications (MCP 2025-11-25, Utilities), a
// question is an elicitation/create, sampling/createMessage or roots/list
// request whose id is the ask's, its settlement a notifications/cancelled with
// that id, and the end the response to the run, whose id it bears.
type JSONRPC struct {
	// Run is the run's id, also the progress token.
	Run string
	// Logger names log messages that say no name: the photon.
	Logger string
	// Base is the origin that addresses in messages begin with, as in
	// "http://127.0.0.1:3008".
	Base string
}

// rpc is a JSON-RPC 2.0 message.
type rpc struct {
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
	sampleParams struct {
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
		Status log.Status `json:"beam/status"`
	}
)

// Render implements [Renderer].
func (j *JSONRPC) Render(batch []log.Entry) ([]Message, error) {
	messages := make([]Message, 0, len(batch))
	for _, e := range batch {
		m, err := j.message(e)
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
func (j *JSONRPC) Broken(err error) ([]Message, error) {
	raw, err := json.Marshal(rpc{Version: "2.0", ID: j.Run, Error: &fault{internalError, err.Error()}})
	return []Message{{Data: raw}}, err
}

// message is the message that tells an entry; nil if none does.
func (j *JSONRPC) message(e log.Entry) (*rpc, error) {
	switch e.Kind {
	case log.KindStarted, log.KindClaimed, log.KindStepped:
		return nil, nil
	case log.KindAsked:
		a, err := log.As[log.Asked](e)
		if err != nil {
			return nil, err
		}
		return j.request(e.Seq, a), nil
	case log.KindAnswered:
		a, err := log.As[log.Answered](e)
		return j.settled(a.Ask, string(a.Answer.Action)+" from "+a.By), err
	case log.KindWithdrawn:
		w, err := log.As[log.Withdrawn](e)
		how := string(w.Reason)
		if w.Error != "" {
			how += ": " + w.Error
		}
		return j.settled(w.Ask, how), err
	case log.KindFinished:
		f, err := log.As[log.Finished](e)
		return &rpc{ID: j.Run, Result: result(f)}, err
	}
	event, err := generators.Decode(string(e.Kind), e.Data)
	if err != nil {
		return nil, err
	}
	return j.event(event, e.Seq), nil
}

func (j *JSONRPC) event(event generators.Event, seq uint64) *rpc {
	switch e := event.(type) {
	case *generators.ProgressEvent:
		return &rpc{Method: "notifications/progress", Params: progressParams{j.Run, e.Done, e.Total, e.Text}}
	case *generators.LogEvent:
		return j.log(e.Level, e.Logger, e.Data, "log")
	case *generators.StatusEvent:
		return j.log(e.Level, "", e.Text, "status")
	case *generators.ToastEvent:
		return j.log(e.Level, "", e.Text, "toast")
	case *generators.ChunkEvent:
		return j.log(generators.Info, "", e.Text, "chunk")
	case *generators.Artifact:
		url := fmt.Sprintf("%s/runs/%s/artifacts/%d", j.Base, j.Run, seq)
		return j.log(generators.Info, "", artifactData{e.Title, e.MediaType, e.Size, url}, "artifact")
	}
	return nil
}

// log is a notifications/message.
func (j *JSONRPC) log(level generators.Level, logger string, data any, kind string) *rpc {
	return &rpc{Method: "notifications/message", Params: messageParams{level.Syslog(), cmp.Or(logger, j.Logger), data, messageMeta{kind}}}
}

// request is the question as the request that MCP has for its kind (MCP
// 2025-11-25, Client Features).
func (j *JSONRPC) request(seq uint64, a log.Asked) *rpc {
	r := &rpc{ID: log.AskID(j.Run, seq)}
	switch q := a.Question; {
	case q.Kind == ask.KindSample && q.Sample != nil:
		r.Method, r.Params = "sampling/createMessage", sampleParams{q.Sample, j.meta(a)}
	case q.Kind == ask.KindRoots:
		r.Method, r.Params = "roots/list", rootsParams{j.meta(a)}
	default:
		r.Method, r.Params = "elicitation/create", j.elicitation(seq, a)
	}
	return r
}

func (j *JSONRPC) meta(a log.Asked) elicitMeta {
	return elicitMeta{a.Question.Kind, a.Key, j.Run, a.Deadline}
}

// elicitation is the params of elicitation/create: form mode where MCP has a
// form for the question, else URL mode, to Beam's own page for secrets and
// files, and for an address that is open until the person says there that they
// are done (MCP 2025-11-25, Client Features, Elicitation).
func (j *JSONRPC) elicitation(seq uint64, a log.Asked) elicitParams {
	q, id := a.Question, log.AskID(j.Run, seq)
	p := elicitParams{Mode: "url", Message: q.Message, ElicitationID: id, Meta: j.meta(a)}
	switch {
	case q.OnPage():
		p.URL = j.Base + "/asks/" + id
	case q.Kind == ask.KindURL:
		p.URL = q.URL
	default:
		p.Mode, p.ElicitationID, p.RequestedSchema = "form", "", q.Fields.RequestedSchema()
	}
	return p
}

func (j *JSONRPC) settled(seq uint64, how string) *rpc {
	return &rpc{Method: "notifications/cancelled", Params: cancelledParams{log.AskID(j.Run, seq), how}}
}

// result is a run's end as the result of tools/call.
func result(f log.Finished) toolResult {
	r := toolResult{Meta: resultMeta{f.Status}}
	if f.Status != log.Completed {
		r.IsError, r.Content = true, text(f.Error)
		return r
	}
	r.Content = text(f.Text())
	if len(f.Result) > 0 && f.Result[0] == '{' {
		r.Structured = f.Result
	}
	return r
}

func text(s string) []textContent { return []textContent{{"text", s}} }
