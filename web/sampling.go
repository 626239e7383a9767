package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// isForModel reports whether a question can be sent to a configured model.
func (s *Server) isForModel(open engine.OpenAsk) bool {
	return s.sampling != nil && open.Question != nil && open.Question.Kind == ask.KindSample
}

// askOnRunPage returns the address of a question on its run's page.
func (s *Server) askOnRunPage(open engine.OpenAsk) string {
	return s.links.Run(open.Run) + "#" + ui.AskElementID(open.ID)
}

// A samplingDecision is what a client says about a request to a model.
type samplingDecision struct {
	Action string `json:"action"` // preview, approve, stop or return
	sampling.Decision
	Text *string `json:"text,omitempty"` // with return, in place of the reply's text
}

// handleSampling approves a request to a model, shows before what that would send, stops the
// call, or returns the reply.
func (s *Server) handleSampling(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	open, err := s.engine.OpenAsk(r.Context(), caller, r.PathValue("id"))
	if errors.Is(err, engine.ErrSettled) && isLivePreview(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return s.renderUnanswerable(w, r, caller, r.PathValue("id"), err)
	}
	if !s.isForModel(open) {
		return sampling.ErrNotForModel
	}
	d, surface, err := s.readDecision(w, r, caller, open)
	if d.Action == "preview" {
		return s.previewSample(w, r, caller, open, d, err)
	}
	if err == nil {
		defer s.unacknowledged.add(open.Run)()
		err = s.applyDecision(r, caller, open, d, surface)
	}
	var invalid *generators.InvalidError
	switch {
	case err == nil:
		return response.RedirectOrAccept(w, r, s.askOnRunPage(open))
	case !request.IsDatastar(r) && !request.WantsHTML(r):
		return err
	case errors.As(err, &invalid):
		return s.renderInvalidSample(w, r, caller, open, invalid.Fields)
	case errors.Is(err, engine.ErrSamplingChanged), errors.Is(err, sampling.ErrNoReply), errors.Is(err, sampling.ErrNotReplying):
		r.PostForm = nil // it shows where the question stands now
		return s.renderInvalidSample(w, r, caller, open, []generators.FieldError{{Message: "was not done: " + err.Error()}})
	}
	return s.renderUnanswerable(w, r, caller, open.ID, err)
}

// readDecision reads a decision from JSON, or from the form of a page.
func (s *Server) readDecision(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk) (d samplingDecision, surface string, err error) {
	switch request.MediaType(r) {
	case request.JSONType:
		body, err := request.ReadBody(w, r)
		if err != nil {
			return d, "", err
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&d); err != nil {
			return d, "", problem.Errorf(http.StatusBadRequest, "The body is not a decision: %v.", err)
		}
		return d, request.SurfaceOf(r), nil
	case request.FormType, request.MultipartType:
		if err := request.ParseAnyForm(w, r); err != nil {
			return d, "", err
		}
		state, err := s.sampling.State(r.Context(), caller, open.ID)
		if err != nil {
			return d, "", err
		}
		d, err := decodeDecision(r.URL.Query().Get("action"), r.PostForm, state.Request(open.Question.Sample))
		return d, "browser", err
	}
	return d, "", request.UnsupportedMediaType(r, request.JSONType+", "+request.FormType+" or "+request.MultipartType)
}

func (s *Server) applyDecision(r *http.Request, caller generators.Caller, open engine.OpenAsk, d samplingDecision, surface string) error {
	switch d.Action {
	case "approve":
		return s.sampling.Approve(r.Context(), caller, surface, open.ID, d.Decision)
	case "stop":
		return s.sampling.Stop(r.Context(), caller, open.ID)
	case "return":
		return s.sampling.Return(r.Context(), caller, surface, open.ID, d.Text)
	}
	return problem.Errorf(http.StatusBadRequest, "The action must be preview, approve, stop or return, not %q.", d.Action)
}

// decodeDecision decodes the form of a page, which was filled with a version of a request.
func decodeDecision(action string, form url.Values, version *ask.SampleRequest) (d samplingDecision, err error) {
	d.Action = action
	switch action {
	case "return":
		if form.Has("text") {
			text := lineFeeds(form.Get("text"))
			d.Text = &text
		}
		return d, nil
	case "approve", "preview":
	default:
		return d, nil
	}
	d.Model, d.Review, d.Original = form.Get("model"), form.Get("review") != "", form.Get("original") != ""
	if err := readWhole(form, "call", &d.Call); err != nil {
		return d, err
	}
	numbers := map[string]*int{"limit": &d.MaxTokens}
	if scope := form.Get("scope"); scope != "" {
		d.Standing = &sampling.StandingRequest{Scope: sampling.Scope(scope)}
		numbers["requests"], numbers["tokens"] = &d.Standing.Requests, &d.Standing.Tokens
	}
	for name, number := range numbers {
		if err := readWhole(form, name, number); err != nil {
			return d, err
		}
	}
	if d.Original {
		d.MaxTokens = 0
		return d, nil
	}
	if system := lineFeeds(form.Get("system")); form.Has("system") && system != lineFeeds(version.SystemPrompt) {
		d.SystemPrompt = &system
	}
	d.Messages = editedMessages(form, version)
	return d, decodeParameters(form, version, &d.Decision)
}

// decodeParameters decodes what is sent besides messages, as far as it was changed.
func decodeParameters(form url.Values, version *ask.SampleRequest, d *sampling.Decision) error {
	if text := strings.TrimSpace(form.Get("temperature")); form.Has("temperature") && text != ui.FormatTemperature(version.Temperature) {
		if text == "" {
			d.Omit = append(d.Omit, "temperature")
		} else if n, err := strconv.ParseFloat(text, 64); err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return invalidField("temperature", "must be a number, such as 0.7")
		} else {
			d.Temperature = &n
		}
	}
	if text := strings.TrimRight(lineFeeds(form.Get("stop")), "\n"); form.Has("stop") && text != ui.FormatStopSequences(version.StopSequences) {
		list, err := ui.ParseStopSequences(text)
		switch {
		case err != nil:
			return invalidField("stopSequences", err.Error())
		case list == nil:
			d.Omit = append(d.Omit, "stopSequences")
		default:
			d.StopSequences = list
		}
	}
	var kept []json.RawMessage
	for n, tool := range version.Tools {
		if !form.Has(ui.ToolField(n)) {
			kept = append(kept, tool)
		}
	}
	if kept == nil && len(version.Tools) > 0 {
		d.Omit = append(d.Omit, "tools")
	} else if len(kept) < len(version.Tools) {
		d.Tools = kept
	}
	if mode := form.Get("toolChoice"); form.Has("toolChoice") && mode != ui.ToolChoiceOf(version) {
		if mode == "" {
			d.Omit = append(d.Omit, "toolChoice")
		} else {
			d.ToolChoice = &ask.ToolChoice{Mode: mode}
		}
	}
	return nil
}

func invalidField(field, message string) error {
	return &generators.InvalidError{Fields: []generators.FieldError{generators.At(field, message)}}
}

// readWhole reads a whole number above 0, if the form has it.
func readWhole(form url.Values, name string, number *int) error {
	text := strings.TrimSpace(form.Get(name))
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		field := name
		if name == "limit" {
			field = "maxTokens"
		}
		return invalidField(field, "must be a whole number, at least 1")
	}
	*number = n
	return nil
}

// editedMessages returns the messages with the form's changes, or nil if there are none.
// What was not changed stays as it is, byte for byte.
func editedMessages(form url.Values, asked *ask.SampleRequest) []ask.SampleMessage {
	changed := false
	messages := []ask.SampleMessage{}
	for i, m := range asked.Messages {
		blocks, _ := m.Blocks() // the question was validated
		kept, edited := editBlocks(form, i, blocks)
		changed = changed || edited
		switch {
		case !edited:
			messages = append(messages, m)
		case len(kept) == 0:
		case m.Role == ask.RoleAssistant:
			messages = append(messages, ask.FromAssistant(kept...))
		default:
			messages = append(messages, ask.FromUser(kept...))
		}
	}
	if !changed {
		return nil
	}
	return messages
}

func editBlocks(form url.Values, message int, blocks []ask.SampleBlock) (kept []ask.SampleBlock, edited bool) {
	for n, b := range blocks {
		name := ui.BlockField(message, n)
		text := lineFeeds(form.Get(name))
		switch {
		case !form.Has(name), b.Type == ask.BlockText && text == lineFeeds(b.Text):
			kept = append(kept, b)
			continue
		case b.Type == ask.BlockText && strings.TrimSpace(text) != "":
			kept = append(kept, ask.TextBlock(text))
		}
		edited = true
	}
	return kept, edited
}

// lineFeeds returns a text with the line breaks that it had before a form posted it.
func lineFeeds(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

// renderInvalidSample renders a question to a model with errors: a patch for a page with
// script, and the run's page without.
func (s *Server) renderInvalidSample(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk, errs []generators.FieldError) error {
	run, err := s.loadTimeline(r, caller, open.Run)
	if err != nil {
		return err
	}
	a := run.Ask(open.ID)
	switch {
	case a == nil || !a.Settled.IsZero():
		return s.renderUnanswerable(w, r, caller, open.ID, engine.ErrSettled)
	case request.IsDatastar(r):
		return s.render(w, r, http.StatusOK, ui.SampleForm(a, s.sampling.Models(), errs, nil))
	}
	var shown *ui.Preview
	if r.PostForm != nil {
		shown = new(ui.PreviewErrors(errs))
	}
	return s.render(w, r, http.StatusUnprocessableEntity, ui.SamplePage(s.newChrome(r, caller, open.Title), a, s.sampling.Models(), errs, r.PostForm, shown))
}

// isLivePreview reports whether a request is for the preview of a page with script, which sends
// it as its form is filled in: it may arrive after the form was posted, as the page's stream says.
func isLivePreview(r *http.Request) bool {
	return request.IsDatastar(r) && r.URL.Query().Get("action") == "preview"
}

// previewSample shows what a decision would send: as JSON, as the part of the page that shows
// it, or, without script, on a page with what was entered.
func (s *Server) previewSample(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk, d samplingDecision, err error) error {
	var version sampling.Version
	if err == nil {
		version, err = s.sampling.Preview(r.Context(), caller, open.ID, d.Decision)
	}
	shown := ui.Preview{Version: version}
	var invalid *generators.InvalidError
	switch {
	case errors.As(err, &invalid) && (request.IsDatastar(r) || request.WantsHTML(r)):
		shown = ui.PreviewErrors(invalid.Fields)
	case isLivePreview(r) && (errors.Is(err, engine.ErrSamplingChanged) || errors.Is(err, engine.ErrSettled)):
		w.WriteHeader(http.StatusNoContent)
		return nil
	case errors.Is(err, engine.ErrSamplingChanged) && request.WantsHTML(r):
		r.PostForm = nil
		return s.renderInvalidSample(w, r, caller, open, []generators.FieldError{{Message: "was not shown: " + err.Error()}})
	case err != nil:
		return err
	}
	switch {
	case request.IsDatastar(r):
		w.Header().Set("Datastar-Selector", "#"+ui.PreviewID(open.ID, d.Call))
		w.Header().Set("Datastar-Mode", "inner")
		return s.render(w, r, http.StatusOK, ui.PreviewOf(open.ID, d.Call, s.sampling.Models(), shown))
	case !request.WantsHTML(r):
		response.JSON(w, http.StatusOK, version)
		return nil
	}
	run, err := s.loadTimeline(r, caller, open.Run)
	if err != nil {
		return err
	}
	a := run.Ask(open.ID)
	if a == nil || !a.Settled.IsZero() {
		return s.renderUnanswerable(w, r, caller, open.ID, engine.ErrSettled)
	}
	var errs []generators.FieldError
	if invalid != nil {
		errs = invalid.Fields
	}
	return s.render(w, r, http.StatusOK, ui.SamplePage(s.newChrome(r, caller, open.Title), a, s.sampling.Models(), errs, r.PostForm, &shown))
}

// describeAsk returns an open question as JSON has it: one to a model with where it
// stands.
func (s *Server) describeAsk(r *http.Request, caller generators.Caller, open engine.OpenAsk) any {
	if !s.isForModel(open) {
		return open
	}
	state, err := s.sampling.State(r.Context(), caller, open.ID)
	if err != nil {
		s.logger.Error("reading what a model was asked", "ask", open.ID, "err", err)
		return open
	}
	return struct {
		engine.OpenAsk
		Sampling any `json:"sampling"`
	}{open, s.sampling.Describe(open.Question.Sample, state)}
}

// handleModels renders the configured models, how they are chosen, what they were used
// for, and the standing approvals.
func (s *Server) handleModels(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	page := ui.ModelsPage{Models: s.sampling.Models().All(), Standing: s.sampling.Standings(caller)}
	var err error
	if page.Usage, err = s.sampling.Usages(r.Context(), caller); err != nil {
		return err
	}
	if page.Since, err = s.sampling.UsageSince(r.Context()); err != nil {
		return err
	}
	if request.WantsJSON(r) {
		response.JSON(w, http.StatusOK, map[string]any{"models": s.sampling.DescribeModels(), "usage": page.Usage, "since": page.Since, "standing": page.Standing})
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Models(s.newChrome(r, caller, "Models"), page))
}

// handleRevoke revokes a standing approval.
func (s *Server) handleRevoke(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return fmt.Errorf("%w", sampling.ErrNoStanding)
	}
	if err := s.sampling.Revoke(caller, id); err != nil {
		return err
	}
	return response.RedirectOrAccept(w, r, s.links.Models())
}
