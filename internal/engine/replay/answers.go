package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// Answers are the answers of an earlier run that another one with the same input is to get. The
// lock of the run guards them.
type Answers struct {
	from string
	left []runlog.RecordedAsk
}

// NewAnswers returns the answers of the questions of an earlier run.
func NewAnswers(from string, asks []runlog.RecordedAsk) *Answers { return &Answers{from, asks} }

// From returns the id of the earlier run; "" if there is none.
func (r *Answers) From() string {
	if r == nil {
		return ""
	}
	return r.from
}

// Take returns the answer to a question that is about to be asked; nil if it is asked. It
// says why if the question isn't one of the earlier run's.
func (r *Answers) Take(kind string, asked runlog.Asked) (answer *askdata.Answer, differs string) {
	if r == nil || len(r.left) == 0 {
		return nil, ""
	}
	i := slices.IndexFunc(r.left, func(a runlog.RecordedAsk) bool { return a.Key == asked.Key })
	const all = " It and all further questions are asked."
	if i < 0 {
		next := r.left[0]
		differs = fmt.Sprintf("This call, %s (%s), differs: run %s made the call %s (%s) here.", quoteKey(asked.Key), kind, shortRun(r.from), quoteKey(next.Key), next.Question.Kind) + all
		r.left = nil
		return nil, differs
	}
	past := r.left[i]
	question, err := json.Marshal(asked.Question)
	if err != nil || !bytes.Equal(question, past.Raw) || asked.Evidence != past.Evidence {
		differs = fmt.Sprintf("This call, %s, differs: run %s asked something else there, or showed something else.", quoteKey(asked.Key), shortRun(r.from)) + all
		r.left = nil
		return nil, differs
	}
	r.left = slices.Delete(r.left, i, i+1)
	if past.Question.Destructive && past.Answer != nil && past.Answer.Action == askdata.Accept {
		return nil, ""
	}
	return past.Answer, ""
}

func quoteKey(key string) string { return strconv.Quote(humanize.Truncate(key, 60)) }

func shortRun(id string) string { return id[:min(len(id), 4)] }
