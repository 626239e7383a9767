package ask_test

import (
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// A model may use the photon's tools: the photon runs them and continues the conversation.
func ExampleSample() {
	low := 0.2
	request := ask.SampleRequest{
		SystemPrompt: "Describe pictures in one sentence.",
		Messages: []ask.SampleMessage{
			ask.FromUser(ask.TextBlock("What is this?"), ask.ImageBlock([]byte("\x89PNG"), "image/png")),
			ask.FromAssistant(ask.TextBlock("A cat.")),
			ask.FromUser(ask.AudioBlock([]byte("RIFF"), "audio/wav")),
		},
		ModelPreferences: &ask.ModelPreferences{
			Hints: []ask.ModelHint{{Name: "small"}}, CostPriority: new(1.0), SpeedPriority: new(0.5), IntelligencePriority: &low,
		},
		Temperature:    &low,
		MaxTokens:      100,
		StopSequences:  []string{"END"},
		IncludeContext: "none",
		Metadata:       json.RawMessage(`{"user":"ada"}`),
		Tools:          []json.RawMessage{json.RawMessage(`{"name":"zoom","inputSchema":{"type":"object"}}`)},
		ToolChoice:     &ask.ToolChoice{Mode: "auto"},
	}
	zoom := func(json.RawMessage) string { return "It has whiskers." } // the photon's tool
	run(func(yield generators.Yield) (string, error) {
		for {
			result, err := ask.Sample(yield, "describe", request)
			if err != nil || result.StopReason != "toolUse" {
				return result.Model + ": " + result.Text(), err
			}
			blocks, err := result.Blocks()
			if err != nil {
				return "", err
			}
			request.Messages = append(request.Messages, result.Message())
			for _, b := range blocks {
				if b.Type == "tool_use" && b.Name == "zoom" {
					request.Messages = append(request.Messages, ask.FromUser(ask.SampleBlock{
						Type: "tool_result", ToolUseID: b.ID, Content: json.RawMessage(`[{"type":"text","text":"` + zoom(b.Input) + `"}]`),
					}))
				}
			}
		}
	}, beamtest.Script{
		"describe": beamtest.Accept(json.RawMessage(
			`{"role":"assistant","model":"eye-1","stopReason":"toolUse","content":[{"type":"tool_use","id":"1","name":"zoom","input":{}}]}`)),
		"describe#2": beamtest.Accept(json.RawMessage(
			`{"role":"assistant","model":"eye-1","stopReason":"endTurn","content":{"type":"text","text":"A cat with whiskers."}}`)),
	})
	// Output:
	// "eye-1: A cat with whiskers."
}

// A conversation is a list of messages, and a message a list of blocks.
func ExampleSampleMessage() {
	conversation := []ask.SampleMessage{
		ask.FromUser(ask.TextBlock("What is this?"), ask.ImageBlock([]byte("\x89PNG"), "image/png"), ask.AudioBlock([]byte("RIFF"), "audio/wav")),
		ask.FromAssistant(ask.TextBlock("A cat that purrs.")),
	}
	for _, m := range conversation {
		fmt.Println(m.Role == ask.RoleUser, m.Role == ask.RoleAssistant, m.Text())
		blocks, err := m.Blocks()
		if err != nil {
			fmt.Println(err)
		}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				fmt.Println("text:", b.Text)
			case "image", "audio":
				fmt.Println(b.MIMEType, len(b.Data), "bytes")
			case "tool_result":
				fmt.Println("failed:", b.IsError)
			}
		}
	}
	fmt.Println(string(conversation[1].Content))
	// Output:
	// true false What is this?
	// text: What is this?
	// image/png 4 bytes
	// audio/wav 4 bytes
	// false true A cat that purrs.
	// text: A cat that purrs.
	// {"text":"A cat that purrs.","type":"text"}
}
