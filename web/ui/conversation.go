package ui

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/web/timeline"
)

// conversationView is what a model is asked, as it is drawn.
type conversationView struct {
	turns []turn
	left  int // how many earlier messages are not among the turns
	terms string
}

// turn is a message.
type turn struct{ who, said string }

// A page shows so many messages, and so many characters of each.
const (
	maxTurns = 20
	maxSaid  = 10_000
)

func newConversation(s *ask.SampleRequest) *conversationView {
	c := &conversationView{left: max(0, len(s.Messages)-maxTurns)}
	if s.SystemPrompt != "" {
		c.turns = append(c.turns, turn{"System", clipped(s.SystemPrompt, maxSaid)})
	}
	for _, m := range s.Messages[c.left:] {
		who := "User"
		if m.Role == ask.RoleAssistant {
			who = "Model"
		}
		said := "[what can’t be shown]"
		if blocks, err := m.Blocks(); err == nil {
			said = clipped(timeline.Spoken(blocks), maxSaid)
		}
		c.turns = append(c.turns, turn{who, said})
	}
	c.terms = "At most " + count(s.MaxTokens, "token", "tokens") + "." + toolsOffered(s.Tools)
	return c
}

// toolsOffered names the tools that the model may use.
func toolsOffered(tools []json.RawMessage) string {
	var names []string
	for _, raw := range tools {
		var tool struct{ Name string }
		if json.Unmarshal(raw, &tool) == nil {
			names = append(names, tool.Name)
		}
	}
	if names == nil {
		return ""
	}
	return " Tools: " + clipped(strings.Join(names, ", "), 500)
}
