package beamtest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
)

// An answer is a scripted answer and the contents of its files, in the same order.
type answer struct {
	askdata.Answer
	contents [][]byte
}

// newAnswer returns the answer that accepts a question with a value. It doesn't validate
// the answer. The error means that the value can't be an answer to this kind of question.
func newAnswer(q *askdata.Question, value any) (answer, error) {
	if choose, ok := value.(func(*Question) any); ok {
		value = choose(newQuestion(q))
	}
	if q.Kind == askdata.KindFile {
		return newFileAnswer(value)
	}
	content, err := newContent(q, value)
	return answer{Answer: askdata.Answer{Action: askdata.Accept, Content: content}}, err
}

func newFileAnswer(value any) (answer, error) {
	var files []File
	switch value := value.(type) {
	case nil:
	case File:
		files = []File{value}
	case []File:
		files = value
	default:
		return answer{}, fmt.Errorf("a file question takes a beamtest.File or a []beamtest.File, not %T", value)
	}
	a := answer{Answer: askdata.Answer{Action: askdata.Accept}}
	for _, f := range files {
		a.Files = append(a.Files, askdata.FileRef{
			Name: f.Name, MediaType: cmp.Or(f.MediaType, "application/octet-stream"), Size: int64(len(f.Content)),
		})
		a.contents = append(a.contents, f.Content)
	}
	return a, nil
}

// newContent returns the content of an answer: an object.
func newContent(q *askdata.Question, value any) (json.RawMessage, error) {
	switch value := value.(type) {
	case nil:
		return json.RawMessage("{}"), nil
	case json.RawMessage:
		return value, nil
	case string:
		if q.Kind == askdata.KindSample {
			return json.Marshal(ask.SampleResult{Role: ask.RoleAssistant, Content: ask.FromAssistant(ask.TextBlock(value)).Content, Model: "beamtest", StopReason: "endTurn"})
		}
	case []ask.Root:
		return json.Marshal(map[string]any{"roots": append([]ask.Root{}, value...)})
	case time.Time:
		return wrapField(q, formatTime(q, value))
	}
	switch q.Kind {
	case askdata.KindForm, askdata.KindSample, askdata.KindRoots, askdata.KindURL:
		return json.Marshal(value)
	}
	return wrapField(q, value)
}

// wrapField returns the content for a question that has a single field.
func wrapField(q *askdata.Question, value any) (json.RawMessage, error) {
	if len(q.Fields) != 1 {
		return nil, fmt.Errorf("a %s question does not take a %T", q.Kind, value)
	}
	return json.Marshal(map[string]any{q.Fields[0].Name: value})
}

// formatTime formats a time as a question's field wants it.
func formatTime(q *askdata.Question, at time.Time) string {
	if len(q.Fields) == 1 && q.Fields[0].Format == "date" {
		return at.Format(time.DateOnly)
	}
	return at.Format(time.RFC3339Nano)
}

// reply returns the reply to a question for which Script.lookup returned the response.
func (r Response) reply(q *askdata.Question) driver.Reply {
	if err := (asking.Policy{}).Admit(q, 0, 0); err != nil {
		return driver.Reply{Err: err}
	}
	if r.err != nil {
		return driver.Reply{Err: r.err}
	}
	checked, err := q.Check(r.answer.Answer)
	if err != nil {
		return driver.Reply{Err: err}
	}
	contents := make(map[string][]byte)
	for i := range checked.Files {
		digest := sha256.Sum256(r.answer.contents[i])
		checked.Files[i].Digest = hex.EncodeToString(digest[:])
		contents[checked.Files[i].Digest] = r.answer.contents[i]
	}
	reply := checked.Reply()
	reply.Open = func(digest string) (io.ReadCloser, error) {
		content, ok := contents[digest]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(bytes.NewReader(content)), nil
	}
	return reply
}

// submit uploads the files of a person's answer and answers a question with it.
func submit(ctx context.Context, e *engine.Engine, by generators.Caller, askID string, a answer) error {
	for i := range a.Files {
		digest, _, err := e.Upload(ctx, by, askID, bytes.NewReader(a.contents[i]))
		if err != nil {
			return err
		}
		a.Files[i].Digest = digest
	}
	return e.Answer(ctx, by, askID, a.Answer, "test")
}
