package upstream

import (
	"encoding/json"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// elicitation returns the question of elicitation/create.
func (qs *questions) elicitation(r *client.ServerRequest) (*question, *refusal) {
	var params struct {
		Mode            string
		Message         string
		RequestedSchema json.RawMessage
		URL             string
		ElicitationID   string
	}
	if err := json.Unmarshal(r.Params, &params); err != nil {
		return nil, invalidf("the params of the question are malformed: %s", message.DescribeJSONError(err))
	}
	switch params.Mode {
	case "", "form":
		return qs.formQuestion(params.Message, params.RequestedSchema)
	case "url":
		return qs.urlQuestion(params.Message, params.URL, params.ElicitationID)
	}
	return nil, invalidf("the mode %q is unknown; the client has declared form and url", policy.CleanLine(params.Mode, 50))
}

func (qs *questions) formQuestion(text string, schema json.RawMessage) (*question, *refusal) {
	if rawjson.TypeName(schema) != rawjson.ObjectType {
		return nil, invalidf("the requestedSchema must be an object")
	}
	parsed, err := generators.ParseSchema(schema)
	if err != nil {
		return nil, invalidf("the requestedSchema is not a valid JSON Schema: %s", policy.CleanLine(err.Error(), maxEventText))
	}
	fields, err := askdata.FromSchema(parsed.Document())
	if err != nil {
		return nil, invalidf("the requestedSchema is not one of a form: %v", err)
	}
	warning, err := qs.policy.CheckForm(text, schema)
	if err != nil {
		return nil, refusef(policy.AskSensitive, mcp.INVALID_PARAMS, "%v", err)
	}
	return &question{note: warning, declined: declinedResult, cancelled: cancelledResult, ask: func(yield generators.Yield) (json.RawMessage, error) {
		content, err := asking.ForFields("elicitation", text, fields, qs.options()...).Ask(yield)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"action": "accept", "content": content})
	}}, nil
}

func (qs *questions) urlQuestion(text, address, id string) (*question, *refusal) {
	address, warning, refused := qs.checkURL(address)
	if refused != nil {
		return nil, &refusal{policy.AskInvalid, refused}
	}
	return &question{note: warning, declined: declinedResult, cancelled: cancelledResult, ask: func(yield generators.Yield) (json.RawMessage, error) {
		w := &withdrawer{yield: yield}
		var isComplete atomic.Bool
		defer qs.completions.await(id, func() { isComplete.Store(true); w.withdraw(completedText) })()
		err := ask.URL(w.yieldCall, "elicitation", text, address, qs.options()...)
		if err != nil && !isComplete.Load() {
			return nil, err
		}
		return json.RawMessage(`{"action":"accept"}`), nil
	}}, nil
}
