package tasks

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// updateExtensionTask serves tasks/update. It records all answers or, if one of them is
// not valid, none. It ignores answers to questions that are not open (SEP-2663, Task
// Update Requests).
func (s *Service) updateExtensionTask(r Requester, info engine.Info, p params) (any, *msg.Error) {
	if p.Responses == nil {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "inputResponses must be an object with answers by the keys of inputRequests")
	}
	answers, invalid := parseAnswers(s.translator(r, info), info.Asks, p.Responses)
	if len(invalid) > 0 {
		return nil, invalidResponsesError(invalid)
	}
	for _, open := range info.Asks {
		a, given := answers[open.ID]
		if !given {
			continue
		}
		err := s.Engine.AnswerShown(answerContext(), r.Caller, open.ID, a, msg.Surface, msg.RenderingOf(open.Question))
		if err != nil && !errors.Is(err, engine.ErrSettled) && !errors.Is(err, engine.ErrAskNotFound) {
			return nil, s.internalError("recording an answer", info.ID, err)
		}
	}
	return s.newResultBase(r, "complete"), nil
}

// parseAnswers decodes and validates the responses to open questions. It returns the
// answers by the id of their question, and the errors by its key. It skips the user's
// consent to open Beam's page, and questions that the client can't be asked, or that others
// are to answer.
func parseAnswers(t *msg.Translator, asks []engine.OpenAsk, responses map[string]json.RawMessage) (map[string]ask.Answer, map[string]*generators.InvalidError) {
	answers, invalid := map[string]ask.Answer{}, map[string]*generators.InvalidError{}
	for _, open := range asks {
		response, given := responses[open.Key]
		_, missing, err := t.AskRequest(&open.Asked, open.ID)
		if !given || open.Excluded || missing != nil || err != nil {
			continue
		}
		a, err := t.Client.ParseAnswer(open.Question, response)
		if err == nil && msg.IsConsent(open.Question, a) {
			continue
		}
		if err == nil {
			a, err = open.Question.Check(a)
		}
		var notValid *generators.InvalidError
		if errors.As(err, &notValid) {
			invalid[open.Key] = notValid
		}
		answers[open.ID] = a
	}
	return answers, invalid
}

// invalidResponsesError returns the error for answers that are not valid.
func invalidResponsesError(invalid map[string]*generators.InvalidError) *msg.Error {
	var texts []string
	for key, wrong := range invalid {
		texts = append(texts, "inputResponses["+key+"]: "+wrong.Error())
	}
	slices.Sort(texts)
	e := msg.Errorf(mcp.INVALID_PARAMS, "no answer was recorded, because some are not valid: %s", strings.Join(texts, "; "))
	e.Data = invalid
	return e
}
