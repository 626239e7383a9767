package runlog

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A RecordedAsk is a question that a run asked, and what was answered.
type RecordedAsk struct {
	Asked
	Seq uint64          // ordinal of the question
	Raw json.RawMessage // the question as it was recorded
	// Answer may be given to the same question of another run; nil if the question has no
	// answer, was dismissed, or its answer is a secret, has files, or isn't recorded.
	Answer *askdata.Answer
}

// NewRecordedAsk returns the question of an entry, without an answer.
func NewRecordedAsk(e Entry, asked Asked) RecordedAsk {
	return RecordedAsk{Asked: asked, Seq: e.Seq, Raw: rawjson.Member(e.Data, "question")}
}

// SetAnswer sets the answer, if it may be given again.
func (r *RecordedAsk) SetAnswer(a *Answered) {
	if a.isRepeatable(r.Question) {
		r.Answer = &a.Answer
	}
}

// RecordedAsks collect the questions of a run, in the order in which they were asked.
type RecordedAsks struct{ List []RecordedAsk }

// Add adds what an entry says. The entries must be added in their order.
func (r *RecordedAsks) Add(e Entry) error {
	switch e.Kind {
	case KindAsked:
		asked, err := Decode[Asked](e)
		if err != nil || asked.Question == nil {
			return err
		}
		r.List = append(r.List, NewRecordedAsk(e, asked))
	case KindAnswered:
		answered, err := Decode[Answered](e)
		if err != nil {
			return err
		}
		for i := range r.List {
			if r.List[i].Seq == answered.AskSeq {
				r.List[i].SetAnswer(&answered)
			}
		}
	}
	return nil
}

// isRepeatable reports whether the answer may be given again.
func (a *Answered) isRepeatable(q *askdata.Question) bool {
	switch {
	case q.Kind == askdata.KindSecret || a.Answer.Files != nil || a.Answer.Action == askdata.Cancel:
		return false
	case a.Answer.Action == askdata.Decline:
		return true
	}
	return a.Answer.Content != nil || len(q.Fields) == 0 && a.Sealed == nil
}
