package testserver

import (
	"encoding/json"
)

// sample asks a model.
func (r *request) sample(params any) (json.RawMessage, error) {
	return r.ask(question{"sampling/createMessage", params})
}

func userMessage(content any) object      { return object{"role": "user", "content": content} }
func assistantMessage(content any) object { return object{"role": "assistant", "content": content} }

// A prompt is a question to a model whose answer the tool returns as it is.
type prompt struct {
	name, description string
	params            func() object
}

var modelPrompts = []prompt{
	{"sample_text", "a question of one text", func() object {
		return object{"messages": []any{userMessage(textBlock("What is the capital of France?"))}, "maxTokens": 100}
	}},
	{"sample_options", "a system prompt, temperature, stop sequences, preferences, context and metadata", func() object {
		return object{
			"messages": []any{userMessage(textBlock("Name a color."))}, "systemPrompt": "You answer with one word.", "maxTokens": 10,
			"temperature": 0.2, "stopSequences": []string{".", "\n"}, "includeContext": "thisServer", "metadata": object{"purpose": "test"},
			"modelPreferences": object{"hints": []any{object{"name": "claude-3-haiku"}, object{"name": "gpt"}}, "costPriority": 0.9, "speedPriority": 0.5, "intelligencePriority": 0.1},
		}
	}},
	{"sample_conversation", "a conversation of several messages", func() object {
		return object{"maxTokens": 100, "messages": []any{
			userMessage(textBlock("My name is Ada.")), assistantMessage(textBlock("Hello, Ada.")), userMessage(textBlock("What is my name?")),
		}}
	}},
	{"sample_image", "an image", func() object {
		return object{"maxTokens": 100, "messages": []any{userMessage(textBlock("What is this?")), userMessage(imageBlock())}}
	}},
	{"sample_audio", "a sound", func() object {
		return object{"maxTokens": 100, "messages": []any{userMessage(textBlock("What is this?")), userMessage(audioBlock())}}
	}},
	{"sample_all_servers", "the context of all servers", func() object {
		return object{"maxTokens": 100, "includeContext": "allServers", "messages": []any{userMessage(textBlock("What do you know?"))}}
	}},
}

func samplingTools() (tools []*tool) {
	for _, p := range modelPrompts {
		tools = append(tools, &tool{name: p.name, description: "Asks a model with " + p.description + ".", run: func(r *request) (object, error) {
			return showAnswer(r.sample(p.params()))
		}})
	}
	return append(tools,
		&tool{name: "sample_tools", description: "Asks a model with tools, and serves the tools that it calls.", run: sampleWithTools},
		&tool{
			name: "sample_anything", description: "Asks a model with the params that it is given.",
			input: `"params":{"type":"object","description":"The params of sampling/createMessage."}`, required: []string{"params"}, run: sampleAnything,
		},
		&tool{name: "ask_everybody", description: "Asks the person, a model and the client for its roots, at once.", run: askEverybody},
		&tool{name: "list_roots", description: "Asks the client for its roots.", run: func(r *request) (object, error) {
			return showAnswer(r.ask(question{"roots/list", object{}}))
		}},
	)
}

func sampleAnything(r *request) (object, error) {
	var params json.RawMessage
	if err := r.argument("params", &params); err != nil {
		return nil, err
	}
	return showAnswer(r.sample(params))
}

func askEverybody(r *request) (object, error) {
	answers, err := r.askAll(question{"elicitation/create", nameForm("Who are you?")},
		question{"sampling/createMessage", modelPrompts[0].params()}, question{"roots/list", object{}})
	if err != nil {
		return nil, err
	}
	all, err := json.Marshal(answers)
	return text("Answers: %s", all), err
}

// sampleWithTools asks until the model calls no tool, at most three times.
func sampleWithTools(r *request) (object, error) {
	messages := []any{userMessage(textBlock("What is the weather in Paris? Use the tool."))}
	tool := object{"name": "weather", "description": "Returns the weather in a city.", "inputSchema": object{
		"type": "object", "properties": object{"city": object{"type": "string"}}, "required": []string{"city"},
	}}
	var answer json.RawMessage
	for range 3 {
		var err error
		answer, err = r.sample(object{"messages": messages, "maxTokens": 200, "tools": []any{tool}, "toolChoice": object{"mode": "auto"}})
		if err != nil {
			return nil, err
		}
		calls, content := toolCalls(answer)
		if calls == nil {
			break
		}
		var results []any
		for _, id := range calls {
			results = append(results, object{"type": "tool_result", "toolUseId": id, "content": []any{textBlock("sunny, 21 °C")}})
		}
		messages = append(messages, assistantMessage(content), userMessage(results))
	}
	return showAnswer(answer, nil)
}

// toolCalls returns the ids of the tools that a model has called, and its content.
func toolCalls(answer json.RawMessage) (ids []string, content json.RawMessage) {
	var sampled struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(answer, &sampled) != nil {
		return nil, nil
	}
	type block struct{ Type, ID string }
	var blocks []block
	if json.Unmarshal(sampled.Content, &blocks) != nil {
		var one block
		if json.Unmarshal(sampled.Content, &one) != nil {
			return nil, nil
		}
		blocks = []block{one}
	}
	for _, b := range blocks {
		if b.Type == "tool_use" {
			ids = append(ids, b.ID)
		}
	}
	return ids, sampled.Content
}
