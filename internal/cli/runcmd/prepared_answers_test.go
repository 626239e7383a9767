package runcmd

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/runlog"
)

// Answers of an earlier run are taken over, but for those whose content isn't in its log:
// they would be declined otherwise.
func TestEarlierAnswers(t *testing.T) {
	text := ask.Fields{{Name: "a", Type: "string"}}
	accepted := func(content string) ask.Answer {
		return ask.Answer{Action: ask.Accept, Content: json.RawMessage(content)}
	}
	for want, tt := range map[string]struct {
		question ask.Question
		answer   ask.Answer
	}{
		`{"q":{"a":"x"}}`: {ask.Question{Kind: ask.KindText, Fields: text}, accepted(`{"a":"x"}`)},
		`{"q":null}`:      {ask.Question{Kind: ask.KindText, Fields: text}, ask.Answer{Action: ask.Decline}},
		`{}`:              {ask.Question{Kind: ask.KindText, Fields: text}, ask.Answer{Action: ask.Cancel}},
		`{} `:             {ask.Question{Kind: ask.KindSecret, Fields: text}, ask.Answer{Action: ask.Accept}},
		`{}  `:            {ask.Question{Kind: ask.KindForm, Fields: text}, ask.Answer{Action: ask.Accept}}, // sealed
		`{}   `:           {ask.Question{Kind: ask.KindFile}, ask.Answer{Action: ask.Accept, Files: []ask.FileRef{{Name: "f"}}}},
		`{"q":true}`:      {ask.Question{Kind: ask.KindURL}, ask.Answer{Action: ask.Accept}},
		`{"q":{}}`:        {ask.Question{Kind: ask.KindForm}, ask.Answer{Action: ask.Accept}},
	} {
		var recorded runlog.RecordedAsks
		asked := runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "q", Question: &tt.question})
		asked.Seq = 3
		if err := errors.Join(recorded.Add(asked), recorded.Add(runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: 3, Answer: tt.answer}))); err != nil {
			t.Fatal(err)
		}
		answers := make(map[string]json.RawMessage)
		if past := recorded.List[0]; past.Answer != nil {
			answers[past.Key] = preparedAnswer(past)
		}
		got, _ := json.Marshal(answers)
		var trimmed json.RawMessage
		if err := json.Unmarshal([]byte(want), &trimmed); err != nil || string(got) != string(trimmed) {
			t.Errorf("%s, %s: %s", tt.question.Kind, tt.answer.Action, got)
		}
	}
}
