package ui

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/web/timeline"
)

// conversationView is what a model is asked, as it is drawn.
type conversationView struct {
	turns   []conversationTurn
	omitted int // how many earlier messages are not among the turns
	limits  string
}

// conversationTurn is a message.
type conversationTurn struct{ speaker, text string }

// A page shows so many messages, and so many characters of each.
const (
	maxTurns      = 20
	maxTurnLength = 10_000
)

func newConversationView(s *ask.SampleRequest) *conversationView {
	c := &conversationView{omitted: max(0, len(s.Messages)-maxTurns)}
	if s.SystemPrompt != "" {
		c.turns = append(c.turns, conversationTurn{"System", truncate(s.SystemPrompt, maxTurnLength)})
	}
	for _, m := range s.Messages[c.omitted:] {
		who := "User"
		if m.Role == ask.RoleAssistant {
			who = "Model"
		}
		said := "[what can’t be shown]"
		if blocks, err := m.Blocks(); err == nil {
			said = truncate(timeline.BlocksText(blocks), maxTurnLength)
		}
		c.turns = append(c.turns, conversationTurn{who, said})
	}
	c.limits = "At most " + formatCount(s.MaxTokens, "token", "tokens") + "." + describeTools(s.Tools)
	return c
}

// describeTools names the tools that the model may use.
func describeTools(tools []json.RawMessage) string {
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
	return " Tools: " + truncate(strings.Join(names, ", "), 500)
}
