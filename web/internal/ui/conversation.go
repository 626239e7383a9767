package ui

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// A conversationView is a sampling request prepared for rendering.
type conversationView struct {
	turns   []conversationTurn
	omitted int // how many earlier messages are not shown
	limits  string
}

// A conversationTurn is one message.
type conversationTurn struct{ speaker, text string }

// Limits on the messages that a page shows.
const (
	maxTurns      = 20
	maxTurnLength = 10_000 // characters
)

func newConversationView(s *ask.SampleRequest) *conversationView {
	c := &conversationView{omitted: max(0, len(s.Messages)-maxTurns)}
	if s.SystemPrompt != "" {
		c.turns = append(c.turns, conversationTurn{"System", humanize.Truncate(s.SystemPrompt, maxTurnLength)})
	}
	for _, m := range s.Messages[c.omitted:] {
		speaker := "User"
		if m.Role == ask.RoleAssistant {
			speaker = "Model"
		}
		text := "[content that can’t be shown]"
		if blocks, err := m.Blocks(); err == nil {
			text = humanize.Truncate(timeline.BlocksText(blocks), maxTurnLength)
		}
		c.turns = append(c.turns, conversationTurn{speaker, text})
	}
	c.limits = "At most " + humanize.CountOf(s.MaxTokens, "token", "tokens") + "." + describeTools(s.Tools)
	return c
}

// describeTools lists the tools that the model may call.
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
	return " Tools: " + humanize.Truncate(strings.Join(names, ", "), 500)
}
