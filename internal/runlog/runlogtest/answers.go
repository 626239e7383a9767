package runlogtest

import (
	"encoding/json"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/runlog"
)

// values has the content of an answer that accepts the question of each kind in [Questions], or
// the value of its only field.
var values = map[ask.Kind]string{
	ask.KindText:        `"Ada"`,
	ask.KindSecret:      `"hunter2"`,
	ask.KindConfirm:     `true`,
	ask.KindSelect:      `"prod"`,
	ask.KindMultiSelect: `["auth","logs"]`,
	ask.KindNumber:      `2.5`,
	ask.KindInteger:     `3`,
	ask.KindDate:        `"2026-05-01"`,
	ask.KindDateTime:    `"2026-05-01T12:00:00Z"`,
	ask.KindFile:        "",
	ask.KindForm:        `{"name":"Ada","email":"ada@example.com"}`,
	ask.KindURL:         "",
	ask.KindSample:      `{"role":"assistant","content":{"type":"text","text":"Hi"},"model":"small"}`,
	ask.KindRoots:       `{"roots":[{"uri":"file:///home/ada"}]}`,
}

// answerTo returns an answer that accepts a question of [Questions].
func answerTo(q *ask.Question) ask.Answer {
	a := ask.Answer{Action: ask.Accept}
	value := values[q.Kind]
	switch {
	case q.File != nil:
		a.Files = []ask.FileRef{{Name: "rows.csv", MediaType: "text/csv", Size: 4, Digest: "00"}}
	case value == "":
	case value[0] == '{':
		a.Content = json.RawMessage(value)
	default:
		a.Content = json.RawMessage(`{"` + q.Fields[0].Name + `":` + value + `}`)
	}
	return a
}

// answeredQuestions returns entries that follow the ordinal after: a question of each kind is
// asked and answered.
func answeredQuestions(after uint64, asked func(key string, q *ask.Question) runlog.Entry) (entries []runlog.Entry) {
	for _, q := range Questions() {
		answered := runlog.Answered{AskSeq: after + uint64(len(entries)) + 1, Answer: answerTo(q), Surface: "browser"}
		if q.Kind == ask.KindSecret {
			answered.Sealed, answered.Answer.Content = []byte("sealed"), nil
		}
		entries = append(entries, asked(string(q.Kind), q), runlog.NewEntry(runlog.KindAnswered, answered))
	}
	return entries
}
