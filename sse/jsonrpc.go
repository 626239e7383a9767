package sse

import (
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// JSONRPC renders a run as MCP would tell it: each message is one JSON-RPC 2.0
// message. Progress and logs are notifications (MCP 2025-11-25, Utilities), a
// question is an elicitation/create request whose id is the ask's, its
// settlement a notifications/cancelled with that id, and the end the response
// to the run, whose id it bears.
type JSONRPC struct {
	// Run is the run's id, also the progress token.
	Run string
	// Logger names log messages that say no name: the photon.
	Logger string
	// Base is the origin that addresses in messages begin with, as in
	// "http://127.0.0.1:3008".
	Base string
}

type rpc struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id,omitempty"`
	Method  string `json:"method,omitempty"`
	Params  any    `json:"params,omitempty"`
	Result  any    `json:"result,omitempty"`
}

type object = map[string]any

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
		return &rpc{ID: log.AskID(j.Run, e.Seq), Method: "elicitation/create", Params: j.elicitation(e.Seq, a)}, nil
	case log.KindAnswered:
		a, err := log.As[log.Answered](e)
		return j.settled(a.Ask, string(a.Answer.Action)+" from "+a.By), err
	case log.KindWithdrawn:
		w, err := log.As[log.Withdrawn](e)
		return j.settled(w.Ask, string(w.Reason)), err
	case log.KindFinished:
		f, err := log.As[log.Finished](e)
		return &rpc{ID: j.Run, Result: toolResult(f)}, err
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
		params := object{"progressToken": j.Run, "progress": e.Done}
		if e.Total > 0 {
			params["total"] = e.Total
		}
		if e.Text != "" {
			params["message"] = e.Text
		}
		return &rpc{Method: "notifications/progress", Params: params}
	case *generators.LogEvent:
		return j.log(e.Level, e.Logger, e.Data, "log")
	case *generators.StatusEvent:
		return j.log(e.Level, "", e.Text, "status")
	case *generators.ToastEvent:
		return j.log(e.Level, "", e.Text, "toast")
	case *generators.ChunkEvent:
		return j.log(generators.Info, "", e.Text, "chunk")
	case *generators.Artifact:
		return j.log(generators.Info, "", object{
			"title": e.Title, "mediaType": e.MediaType, "size": e.Size,
			"url": fmt.Sprintf("%s/runs/%s/artifacts/%d", j.Base, j.Run, seq),
		}, "artifact")
	}
	return nil
}

// log is a notifications/message. MCP knows no level "success".
func (j *JSONRPC) log(level generators.Level, logger string, data any, kind string) *rpc {
	if level == generators.Success {
		level = generators.Notice
	}
	if logger == "" {
		logger = j.Logger
	}
	return &rpc{Method: "notifications/message", Params: object{
		"level": level, "logger": logger, "data": data, "_meta": object{"beam/kind": kind},
	}}
}

// elicitation is the params of elicitation/create: form mode where MCP has a
// form for the question, else URL mode, to Beam's own page for secrets and
// files (MCP 2025-11-25, Client Features, Elicitation).
func (j *JSONRPC) elicitation(seq uint64, a log.Asked) object {
	q, id := a.Question, log.AskID(j.Run, seq)
	params := object{"message": q.Message, "_meta": object{"beam/kind": q.Kind, "beam/key": a.Key, "beam/run": j.Run}}
	if !a.Deadline.IsZero() {
		params["_meta"].(object)["beam/deadline"] = a.Deadline
	}
	switch q.Kind {
	case ask.KindSecret, ask.KindFile:
		params["mode"], params["elicitationId"], params["url"] = "url", id, j.Base+"/asks/"+id
	case ask.KindURL:
		params["mode"], params["elicitationId"], params["url"] = "url", id, q.URL
	default:
		params["mode"], params["requestedSchema"] = "form", q.Fields.RequestedSchema()
	}
	return params
}

func (j *JSONRPC) settled(seq uint64, how string) *rpc {
	return &rpc{Method: "notifications/cancelled", Params: object{"requestId": log.AskID(j.Run, seq), "reason": how}}
}

// toolResult is a run's end as the result of tools/call.
func toolResult(f log.Finished) object {
	meta := object{"beam/status": f.Status}
	if f.Status != log.Completed {
		return object{"content": []object{text(f.Error)}, "isError": true, "_meta": meta}
	}
	result := object{"content": []object{text(resultText(f.Result))}, "_meta": meta}
	if len(f.Result) > 0 && f.Result[0] == '{' {
		result["structuredContent"] = f.Result
	}
	return result
}

func text(s string) object { return object{"type": "text", "text": s} }

// resultText shows a string as itself and anything else as JSON.
func resultText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
