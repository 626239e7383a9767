package asks

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/streamable"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
)

// rpcResponse is a JSON-RPC 2.0 response. Decoding is as strict as the specification.
type rpcResponse struct {
	Version string          `json:"jsonrpc"`
	ID      *string         `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Method  *string         `json:"method"`
}

// elicitResult is MCP's ElicitResult.
type elicitResult struct {
	Action  askdata.Action  `json:"action"`
	Content json.RawMessage `json:"content"`
}

// decodeResponse decodes one JSON-RPC response. Its errors are meant for the client.
func decodeResponse(body []byte) (rpcResponse, error) {
	var m rpcResponse
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		return m, errors.New("batches are not supported: send one response per request")
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, errors.New("the body must be a JSON-RPC response whose id is the question's id, a string")
	}
	if string(m.Result) == "null" {
		m.Result = nil
	}
	switch {
	case m.Version != "2.0":
		return m, errors.New(`jsonrpc must be "2.0"`)
	case m.Method != nil:
		return m, errors.New("the body is a JSON-RPC request; only responses to questions are accepted")
	case m.ID == nil || *m.ID == "":
		return m, errors.New("id must be the id of the question")
	case (m.Result == nil) == (len(m.Error) == 0):
		return m, errors.New("exactly one of result and error is required")
	}
	return m, nil
}

// toAnswer converts a response to an answer. A JSON-RPC error cancels the question, but
// the one that says that a person rejected a request to a model declines it.
// Results of sampling and roots requests have no action and accept the question.
func (m rpcResponse) toAnswer(kind askdata.Kind) (askdata.Answer, error) {
	if m.Result == nil && kind == askdata.KindSample && m.errorCode() == message.CodeUserRejected {
		return askdata.Answer{Action: askdata.Decline}, nil
	}
	if m.Result == nil {
		return askdata.Answer{Action: askdata.Cancel}, nil
	}
	var e elicitResult
	if err := json.Unmarshal(m.Result, &e); err != nil {
		return askdata.Answer{}, problem.Errorf(http.StatusBadRequest, "the result must be an object as MCP defines it")
	}
	if e.Action == "" && (kind == askdata.KindSample || kind == askdata.KindRoots) {
		return askdata.Answer{Action: askdata.Accept, Content: m.Result}, nil
	}
	return askdata.Answer{Action: e.Action, Content: e.Content}, nil
}

// errorCode returns the code of the response's error; 0 if it has none.
func (m rpcResponse) errorCode() int {
	var e struct{ Code int }
	_ = json.Unmarshal(m.Error, &e) // an error without a code is an error all the same
	return e.Code
}

// answerResponse records a JSON-RPC response.
func (h *Answers) answerResponse(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	body, err := request.ReadBody(w, r)
	if err != nil {
		return h.writeRPCError(w, r, nil, err)
	}
	m, err := decodeResponse(body)
	if err != nil {
		return h.writeRPCError(w, r, nil, problem.Errorf(http.StatusBadRequest, "%v", err))
	}
	run, _, _ := runlog.SplitAskID(*m.ID)
	defer h.Pending.Add(run)()
	if err := h.recordAnswer(r, caller, *m.ID, m); err != nil {
		return h.writeRPCError(w, r, m.ID, err)
	}
	streamable.WriteAccepted(w)
	return nil
}

// recordAnswer records a response as the question's answer. The exception is an accept
// without content of a URL mode request: it only means that the person agreed to open
// the URL, which doesn't answer a question that is answered on Beam's page.
func (h *Answers) recordAnswer(r *http.Request, caller generators.Caller, id string, m rpcResponse) error {
	open, err := h.Engine.OpenAsk(r.Context(), caller, id)
	if err != nil {
		return err
	}
	kind := open.Question.Kind
	a, err := m.toAnswer(kind)
	if err != nil {
		return err
	}
	if request.IsTerminal(r) && (a.Action != askdata.Accept || kind != askdata.KindFile) { // it has shown the question itself, as a page does
		return h.Engine.AnswerShown(r.Context(), caller, id, a, request.TerminalSurface, request.RenderedInTerminal(r))
	}
	if a.Action == askdata.Accept && (open.Question.UntilDone || len(a.Content) == 0 && message.NeedsPage(open.Question)) {
		return nil
	}
	if a.Action == askdata.Accept && kind == askdata.KindFile {
		return problem.Errorf(http.StatusUnprocessableEntity, "Upload the file as multipart/form-data to %s, in the part %q.", h.Links.AnswerAsk(id, "accept"), "file")
	}
	if a.Action == askdata.Accept {
		if err := h.convertConfirmation(open, &a); err != nil {
			return err
		}
	}
	return h.Engine.AnswerShown(r.Context(), caller, id, a, "http", message.RenderingOf(open.Question))
}

// convertConfirmation converts the content of a confirmation, which is a choice in a
// stream's messages. One that those messages only ask to open the page for must be
// answered there.
func (h *Answers) convertConfirmation(open engine.OpenAsk, a *askdata.Answer) (err error) {
	if open.Question.Kind == askdata.KindConfirm && message.NeedsPage(open.Question) {
		return problem.Errorf(http.StatusUnprocessableEntity, "This question confirms what can't be undone, and shows more than a message can. Answer it at %s.", h.Links.Ask(open.ID))
	}
	a.Content, err = form.ConfirmContent(open.Question, a.Content)
	return err
}

// JSON-RPC error codes for invalid requests.
const (
	rpcInvalidRequest = -32600
	rpcInvalidParams  = -32602
)

// writeRPCError writes an error as a JSON-RPC error response, and returns nil.
func (h *Answers) writeRPCError(w http.ResponseWriter, r *http.Request, id *string, err error) error {
	status, text, fields := problem.Classify(err)
	code := rpcInvalidParams
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		code = rpcInvalidRequest
	case http.StatusInternalServerError:
		code = -32603
		h.Logger.Error("recording an answer", "path", r.URL.Path, "err", err)
	}
	e := map[string]any{"code": code, "message": text}
	if fields != nil {
		e["data"] = map[string]any{"fields": fields}
	}
	if parked, ok := errors.AsType[*engine.ParkedError](err); ok {
		e["data"] = map[string]any{"parked": parked.Parked}
	}
	return response.JSON(w, status, map[string]any{"jsonrpc": "2.0", "id": id, "error": e})
}
