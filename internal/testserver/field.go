package testserver

import (
	"encoding/json"
	"errors"
)

// fieldTools returns the two tools with which others test their clients. They forward
// an error that the client answers with.
func fieldTools() []*tool {
	return []*tool{
		{
			name: "ask_user_preferences", description: "Ask user for their preferences via elicitation",
			run: func(r *request) (object, error) {
				answer, err := r.elicit(json.RawMessage(preferences))
				if err != nil {
					return nil, forward(err)
				}
				return text("User preferences: %s", indent(answer)), nil
			},
		},
		{
			name: "request_llm_help", description: "Request LLM assistance via sampling",
			input: `"question":{"type":"string","description":"Question to ask LLM"}`, required: []string{"question"},
			run: func(r *request) (object, error) {
				var prompt string
				if err := r.argument("question", &prompt); err != nil {
					return nil, err
				}
				answer, err := r.sample(object{"messages": []any{userMessage(textBlock(prompt))}, "maxTokens": 500})
				if err != nil {
					return nil, forward(err)
				}
				return text("LLM Response: %s", sampledText(answer)), nil
			},
		},
	}
}

const preferences = `{"message":"Please configure your preferences for this operation:","requestedSchema":{"type":"object","properties":{` +
	`"outputFormat":{"type":"string","title":"Output Format","description":"How should results be formatted?","enum":["json","markdown","plain"]},` +
	`"verbosity":{"type":"string","title":"Verbosity Level","enum":["minimal","normal","verbose"]},` +
	`"includeTimestamps":{"type":"boolean","title":"Include Timestamps","default":true}},` +
	`"required":["outputFormat"]}}`

// forward returns the error that the client answered with as the request's own.
func forward(err error) error {
	var answered *clientError
	if errors.As(err, &answered) {
		return answered.response
	}
	return err
}

// sampledText returns the text that a model answered with.
func sampledText(answer json.RawMessage) string {
	var sampled struct {
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(answer, &sampled) != nil {
		return "undefined"
	}
	return sampled.Content.Text
}
