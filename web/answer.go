package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/ui"
)

// handleAnswer is the way back: a JSON-RPC response to a question that a stream told,
// or the fields of the form that a page showed.
func (s *Server) handleAnswer(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	switch mediaType(r) {
	case jsonType:
		return s.handleRPCAnswer(w, r, who)
	case formType, multipartType:
		return s.handleFormAnswer(w, r, who)
	}
	err := unsupportedMediaType(r, jsonType+", "+formType+" or "+multipartType)
	if strings.HasSuffix(mediaType(r), "json") || wantsJSON(r) {
		s.writeRPCError(w, r, nil, err)
		return nil
	}
	return err
}

// rpcResponse is a JSON-RPC 2.0 response, as strictly as its specification.
type rpcResponse struct {
	Version string          `json:"jsonrpc"`
	ID      *string         `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Method  *string         `json:"method"`
}

// elicitResult is MCP's ElicitResult.
type elicitResult struct {
	Action  ask.Action      `json:"action"`
	Content json.RawMessage `json:"content"`
}

// decodeResponse reads one JSON-RPC response. The error says what is wrong.
func decodeResponse(body []byte) (rpcResponse, error) {
	var m rpcResponse
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		return m, errors.New("a batch is not taken: send one response a request")
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, errors.New("the body must be one JSON-RPC response, with the question's id as a string")
	}
	if string(m.Result) == "null" {
		m.Result = nil
	}
	switch {
	case m.Version != "2.0":
		return m, errors.New(`jsonrpc must be "2.0"`)
	case m.Method != nil:
		return m, errors.New("this is a request; what is taken here are responses to questions")
	case m.ID == nil || *m.ID == "":
		return m, errors.New("id must be the id of the question")
	case (m.Result == nil) == (len(m.Error) == 0):
		return m, errors.New("there must be a result or an error, and not both")
	}
	return m, nil
}

// toAnswer is what a response to a question says; an error puts the question
// away. What models and roots are asked has results of its own, which say no
// action.
func (m rpcResponse) toAnswer(kind ask.Kind) (ask.Answer, error) {
	if m.Result == nil {
		return ask.Answer{Action: ask.Cancel}, nil
	}
	var e elicitResult
	if err := json.Unmarshal(m.Result, &e); err != nil {
		return ask.Answer{}, statusErrorf(http.StatusBadRequest, "the result must be an object as MCP has it")
	}
	if e.Action == "" && (kind == ask.KindSample || kind == ask.KindRoots) {
		return ask.Answer{Action: ask.Accept, Content: m.Result}, nil
	}
	return ask.Answer{Action: e.Action, Content: e.Content}, nil
}

func (s *Server) handleRPCAnswer(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	body, err := readBody(w, r)
	if err != nil {
		s.writeRPCError(w, r, nil, err)
		return nil
	}
	m, err := decodeResponse(body)
	if err != nil {
		s.writeRPCError(w, r, nil, statusErrorf(http.StatusBadRequest, "%v", err))
		return nil
	}
	if err := s.recordAnswer(r, who, *m.ID, m); err != nil {
		s.writeRPCError(w, r, m.ID, err)
		return nil
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// recordAnswer answers a question, but for one thing: to accept a request in URL mode
// without content is to agree to open the address, and for a secret, a file, or
// an address that is open until the person is done, that is not the answer yet.
func (s *Server) recordAnswer(r *http.Request, who engine.Caller, id string, m rpcResponse) error {
	open, err := s.engine.OpenAsk(r.Context(), who, id)
	if err != nil {
		return err
	}
	kind := open.Question.Kind
	a, err := m.toAnswer(kind)
	if err != nil {
		return err
	}
	if a.Action == ask.Accept && (open.Question.UntilDone || len(a.Content) == 0 && (kind == ask.KindSecret || kind == ask.KindFile)) {
		return nil
	}
	if a.Action == ask.Accept && kind == ask.KindFile {
		return statusErrorf(http.StatusUnprocessableEntity, "A file is handed in as multipart/form-data at /mcp/request?ask=%s&action=accept, in the part %q.", id, "file")
	}
	return s.engine.Answer(r.Context(), who, id, a, "http")
}

// JSON-RPC's codes for what a caller did wrong.
const (
	rpcInvalidRequest = -32600
	rpcInvalidParams  = -32602
)

// writeRPCError writes an error as a JSON-RPC error response.
func (s *Server) writeRPCError(w http.ResponseWriter, r *http.Request, id *string, err error) {
	status, text, fields := classifyError(err)
	code := rpcInvalidParams
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		code = rpcInvalidRequest
	case http.StatusInternalServerError:
		code = -32603
		s.logger.Error("taking an answer", "path", r.URL.Path, "err", err)
	}
	e := map[string]any{"code": code, "message": text}
	if fields != nil {
		e["data"] = map[string]any{"fields": fields}
	}
	writeJSON(w, status, map[string]any{"jsonrpc": "2.0", "id": id, "error": e})
}

// handleFormAnswer takes what a page's form posts. Which question and which action
// the address says, so that they can't be mistaken for fields.
func (s *Server) handleFormAnswer(w http.ResponseWriter, r *http.Request, who engine.Caller) error {
	id := r.URL.Query().Get("ask")
	open, err := s.engine.OpenAsk(r.Context(), who, id)
	if err != nil {
		return s.renderUnanswerable(w, r, who, id, err)
	}
	a := ask.Answer{Action: ask.Action(r.URL.Query().Get("action"))}
	if a.Action == ask.Accept {
		if a, err = s.readFormAnswer(w, r, who, open); err != nil {
			s.discardUploads(open, a)
			return s.renderInvalidForm(w, r, who, open, err)
		}
	}
	if err := s.engine.Answer(r.Context(), who, id, a, "browser"); err != nil {
		s.discardUploads(open, a)
		return s.renderInvalidForm(w, r, who, open, err)
	}
	return redirectOrAccept(w, r, "/runs/"+open.Run)
}

// readFormAnswer reads the answer that a form holds.
func (s *Server) readFormAnswer(w http.ResponseWriter, r *http.Request, who engine.Caller, open engine.OpenAsk) (ask.Answer, error) {
	a := ask.Answer{Action: ask.Accept}
	if open.Question.Kind == ask.KindFile {
		return s.storeUploads(w, r, who, open)
	}
	if err := readAnswerForm(w, r); err != nil {
		return a, err
	}
	a.Content = form.Decode(open.Question.Fields, r.PostForm, formTimeZone(r.PostForm))
	return a, nil
}

// readAnswerForm parses a form of either encoding. None of its parts is a file.
func readAnswerForm(w http.ResponseWriter, r *http.Request) error {
	if mediaType(r) == formType {
		return parseForm(w, r)
	}
	limitBodySize(w, r, maxBody)
	if err := r.ParseMultipartForm(maxBody); err != nil {
		return bodyError(err)
	}
	return nil
}

// discardUploads removes uploads of an answer that was not taken.
func (s *Server) discardUploads(open engine.OpenAsk, a ask.Answer) {
	for _, f := range a.Files {
		s.engine.DiscardUpload(open.Run, f.Digest, f.Size)
	}
}

// renderInvalidForm shows the form again with what is wrong. To a page with script
// that is a patch, which must be a 200; without, the whole page.
func (s *Server) renderInvalidForm(w http.ResponseWriter, r *http.Request, who engine.Caller, open engine.OpenAsk, err error) error {
	var invalid *generators.InvalidError
	switch {
	case !errors.As(err, &invalid):
		return s.renderUnanswerable(w, r, who, open.ID, err)
	case isDatastarRequest(r):
		return s.render(w, r, http.StatusOK, ui.AskForm(open, invalid.Fields, nil))
	case wantsHTML(r):
		return s.render(w, r, http.StatusUnprocessableEntity,
			ui.AskPage(s.newChrome(r, who, open.Title), open, invalid.Fields, r.PostForm))
	}
	return err
}

// isDatastarRequest tells a request that Datastar made: the body of its 200 is morphed
// into the page, and that of any other status is ignored.
func isDatastarRequest(r *http.Request) bool { return r.Header.Get("Datastar-Request") == "true" }
