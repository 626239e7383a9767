package runcmd

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// Answers of an earlier run are taken over, but for those whose content isn't in its log:
// they would be declined otherwise.
func TestEarlierAnswers(t *testing.T) {
	text := askdata.Fields{{Name: "a", Type: "string"}}
	accepted := func(content string) askdata.Answer {
		return askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}
	}
	for want, tt := range map[string]struct {
		question askdata.Question
		answer   askdata.Answer
	}{
		`{"q":{"a":"x"}}`: {askdata.Question{Kind: askdata.KindText, Fields: text}, accepted(`{"a":"x"}`)},
		`{"q":null}`:      {askdata.Question{Kind: askdata.KindText, Fields: text}, askdata.Answer{Action: askdata.Decline}},
		`{}`:              {askdata.Question{Kind: askdata.KindText, Fields: text}, askdata.Answer{Action: askdata.Cancel}},
		`{} `:             {askdata.Question{Kind: askdata.KindSecret, Fields: text}, askdata.Answer{Action: askdata.Accept}},
		`{}  `:            {askdata.Question{Kind: askdata.KindForm, Fields: text}, askdata.Answer{Action: askdata.Accept}}, // sealed
		`{}   `:           {askdata.Question{Kind: askdata.KindFile}, askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{{Name: "f"}}}},
		`{"q":true}`:      {askdata.Question{Kind: askdata.KindURL}, askdata.Answer{Action: askdata.Accept}},
		`{"q":{}}`:        {askdata.Question{Kind: askdata.KindForm}, askdata.Answer{Action: askdata.Accept}},
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
