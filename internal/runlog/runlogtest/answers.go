package runlogtest

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// values has the content of an answer that accepts the question of each kind in [Questions], or
// the value of its only field.
var values = map[askdata.Kind]string{
	askdata.KindText:        `"Ada"`,
	askdata.KindSecret:      `"hunter2"`,
	askdata.KindConfirm:     `true`,
	askdata.KindSelect:      `"prod"`,
	askdata.KindMultiSelect: `["auth","logs"]`,
	askdata.KindNumber:      `2.5`,
	askdata.KindInteger:     `3`,
	askdata.KindDate:        `"2026-05-01"`,
	askdata.KindDateTime:    `"2026-05-01T12:00:00Z"`,
	askdata.KindFile:        "",
	askdata.KindForm:        `{"name":"Ada","email":"ada@example.com"}`,
	askdata.KindURL:         "",
	askdata.KindSample:      `{"role":"assistant","content":{"type":"text","text":"Hi"},"model":"small"}`,
	askdata.KindRoots:       `{"roots":[{"uri":"file:///home/ada"}]}`,
}

// answerTo returns an answer that accepts a question of [Questions].
func answerTo(q *askdata.Question) askdata.Answer {
	a := askdata.Answer{Action: askdata.Accept}
	value := values[q.Kind]
	switch {
	case q.File != nil:
		a.Files = []askdata.FileRef{{Name: "rows.csv", MediaType: "text/csv", Size: 4, Digest: "00"}}
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
func answeredQuestions(after uint64, asked func(key string, q *askdata.Question) runlog.Entry) (entries []runlog.Entry) {
	for _, q := range Questions() {
		answered := runlog.Answered{AskSeq: after + uint64(len(entries)) + 1, Answer: answerTo(q), Surface: "browser"}
		if q.Kind == askdata.KindSecret {
			answered.Sealed, answered.Answer.Content = []byte("sealed"), nil
		}
		entries = append(entries, asked(string(q.Kind), q), runlog.NewEntry(runlog.KindAnswered, answered))
	}
	return entries
}
