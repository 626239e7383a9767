package llm

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

// A Candidate is a model as a choice for a request.
type Candidate struct {
	*Model
	Hint  string  // the request's hint that the model matches; empty if none
	Score float64 // the scores, weighted by the request's priorities; from 0 to 1
	Unfit string  // why the model can't take the request, in a sentence; empty if it can

	hintRank int
}

// Rank returns all models as choices for a request, the best first: those that can take
// it; among them, those that match an earlier hint; among them, those with the higher
// score; and otherwise in the order of the file. A hint matches a model if it is a part
// of the model's name, id or hints, or the reverse, in either case of letters.
func (m *Models) Rank(r *ask.SampleRequest) []Candidate {
	needs := needsOf(r)
	list := make([]Candidate, len(m.list))
	for i, model := range m.list {
		c := Candidate{Model: model, Score: model.score(r.ModelPreferences), Unfit: model.unfit(needs)}
		c.Hint, c.hintRank = model.matchHint(r.ModelPreferences)
		list[i] = c
	}
	slices.SortStableFunc(list, func(a, b Candidate) int {
		return cmp.Or(compareBool(a.Unfit != "", b.Unfit != ""), cmp.Compare(a.hintRank, b.hintRank), cmp.Compare(b.Score, a.Score))
	})
	return list
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// score returns the mean of the scores, weighted by the priorities; 0 without any.
func (m *Model) score(p *ask.ModelPreferences) float64 {
	if p == nil {
		return 0
	}
	var sum, weights float64
	for _, pair := range []struct {
		priority *float64
		score    float64
	}{{p.CostPriority, m.Cost}, {p.SpeedPriority, m.Speed}, {p.IntelligencePriority, m.Intelligence}} {
		if pair.priority != nil {
			sum, weights = sum+*pair.priority*pair.score, weights+*pair.priority
		}
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// matchHint returns the first hint that the model matches, and its position; the
// position after the last hint if it matches none.
func (m *Model) matchHint(p *ask.ModelPreferences) (hint string, rank int) {
	if p == nil {
		return "", 0
	}
	names := append([]string{m.Name, m.ID}, m.Hints...)
	for i, h := range p.Hints {
		want := strings.ToLower(strings.TrimSpace(h.Name))
		if want == "" {
			continue
		}
		for n, name := range names {
			name = strings.ToLower(name)
			if strings.Contains(name, want) || n >= 2 && strings.Contains(want, name) {
				return h.Name, i
			}
		}
	}
	return "", len(p.Hints)
}

// needsOf returns what a request needs a model to accept besides text.
func needsOf(r *ask.SampleRequest) []string {
	var needs []string
	add := func(what string) {
		if !slices.Contains(needs, what) {
			needs = append(needs, what)
		}
	}
	if len(r.Tools) > 0 {
		add(AcceptsTools)
	}
	for _, message := range r.Messages {
		blocks, _ := message.Blocks()
		for i := range blocks {
			switch blocks[i].Type {
			case askdata.BlockText:
			case askdata.BlockImage, askdata.BlockAudio:
				add(blocks[i].Type)
			case askdata.BlockToolUse, askdata.BlockToolResult:
				add(AcceptsTools)
			default:
				add("content of the type " + blocks[i].Type)
			}
		}
	}
	return needs
}

func (m *Model) unfit(needs []string) string {
	for _, n := range needs {
		if m.Accept(n) {
			continue
		}
		switch n {
		case AcceptsImage:
			return "It takes no pictures."
		case AcceptsAudio:
			return "It takes no sounds."
		case AcceptsTools:
			return "It uses no tools."
		}
		return "It takes no " + n + "."
	}
	return ""
}

// Rough sizes, in tokens, for estimates.
const (
	charactersPerToken = 4
	tokensPerMessage   = 4
	tokensPerImage     = 800
	bytesPerAudioToken = 1600
)

// EstimateTokens estimates how many tokens a request has: a quarter of its characters,
// and a round number for each message, picture and sound.
func EstimateTokens(r *ask.SampleRequest) int {
	characters, tokens := utf8.RuneCountInString(r.SystemPrompt), tokensPerMessage*len(r.Messages)
	for _, m := range r.Messages {
		blocks, _ := m.Blocks()
		for i := range blocks {
			b := &blocks[i]
			characters += utf8.RuneCountInString(b.Text) + len(b.Input) + len(b.Content)
			switch b.Type {
			case askdata.BlockImage:
				tokens += tokensPerImage
			case askdata.BlockAudio:
				tokens += 1 + len(b.Data)/bytesPerAudioToken
			}
		}
	}
	for _, t := range r.Tools {
		characters += len(t)
	}
	return tokens + (characters+charactersPerToken-1)/charactersPerToken
}

// EstimateReply estimates how many tokens a reply has.
func EstimateReply(r *ask.SampleResult) int {
	return EstimateTokens(&ask.SampleRequest{Messages: []ask.SampleMessage{{Role: r.Role, Content: r.Content}}}) - tokensPerMessage
}

// EstimateText estimates how many tokens a text has.
func EstimateText(text string) int {
	return (utf8.RuneCountInString(text) + charactersPerToken - 1) / charactersPerToken
}
