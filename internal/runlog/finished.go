package runlog

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
)

// FinishStatus is how a run ended.
type FinishStatus string

// How a run can end.
const (
	Completed   FinishStatus = "completed"
	Failed      FinishStatus = "failed"
	Stopped     FinishStatus = "stopped"     // by a person or a client
	Interrupted FinishStatus = "interrupted" // by the end of the process
	Unanswered  FinishStatus = "unanswered"  // with the error of a question; see UnansweredAsk
)

// UnansweredReason is why the question that ended a run has no answer.
type UnansweredReason string

// The reasons.
const (
	ReasonDeclined    UnansweredReason = "declined"
	ReasonDismissed   UnansweredReason = "dismissed" // canceled, in MCP's words
	ReasonExpired     UnansweredReason = "expired"
	ReasonUnreachable UnansweredReason = "unreachable" // nobody could be asked
	ReasonInvalid     UnansweredReason = "invalid"     // too many answers were invalid
)

// Finished is the last entry of a run.
type Finished struct {
	Status FinishStatus    `json:"status"`
	Result json.RawMessage `json:"result,omitempty"` // of a completed run
	// ResultBlob is the digest of the result if it is too large for each reader to load;
	// Result is then empty. ResultSize is its size in bytes, and ResultPreview its
	// beginning, for people.
	ResultBlob    string `json:"resultBlob,omitempty"`
	ResultSize    int64  `json:"resultSize,omitempty"`
	ResultPreview string `json:"resultPreview,omitempty"`
	// MediaType is that of a result that is a text in a language, such as
	// [generators.MarkdownType].
	MediaType string `json:"mediaType,omitempty"`
	// Content is the result as another server gave it, if the photon called that server's
	// tool. A failed run may have it, too. ContentBlob is its digest if it is too large
	// for the entry, and ContentSize its size in bytes.
	Content     json.RawMessage `json:"content,omitempty"`
	ContentBlob string          `json:"contentBlob,omitempty"`
	ContentSize int64           `json:"contentSize,omitempty"`
	// Error is what went wrong, for people. For an unanswered run, it is what the tool
	// said beyond that, if anything.
	Error string `json:"error,omitempty"`
	// Panic is what the tool panicked with, and where, for operators alone; see
	// [Entry.WithoutPanic].
	Panic string `json:"panic,omitempty"`
	// Ask is the question that an unanswered run ended with.
	Ask *UnansweredAsk `json:"ask,omitempty"`
	// Surface is where a run was stopped; empty if neither a person nor a client did it.
	Surface string `json:"surface,omitempty"`
	// By is what people call who stopped the run, or declined or dismissed the question,
	// if that isn't the run's owner.
	By        string         `json:"by,omitempty"`
	TimeSpent askdata.Millis `json:"spent,omitempty"`
}

// An UnansweredAsk is the question that ended a run because it has no answer.
type UnansweredAsk struct {
	Reason UnansweredReason `json:"reason"`
	// Seq is the ordinal of the question, and Message its message. They are empty if the
	// tool returned the error of a question that it didn't ask.
	Seq     uint64 `json:"seq,omitempty"`
	Message string `json:"message,omitempty"`
	// Detail is why nobody could be asked, or what was wrong with the answers.
	Detail string `json:"detail,omitempty"`
}

// Reason returns why the run's question has no answer; empty unless it ended for that.
func (f *Finished) Reason() UnansweredReason {
	if f.Ask == nil {
		return ""
	}
	return f.Ask.Reason
}

// ResultText returns the result if it is a string, and its JSON otherwise.
func (f *Finished) ResultText() string {
	var s string
	if json.Unmarshal(f.Result, &s) == nil {
		return s
	}
	return string(f.Result)
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads the logs of earlier versions as
// [Finished.RecognizeUnanswered] says.
func (f *Finished) UnmarshalJSON(raw []byte) error {
	type plain Finished
	if err := json.Unmarshal(raw, (*plain)(f)); err != nil {
		return err
	}
	f.RecognizeUnanswered()
	return nil
}

// RecognizeUnanswered makes a run unanswered that has failed with just the text of a
// question's error, as all did in earlier versions.
func (f *Finished) RecognizeUnanswered() {
	if f.Status != Failed {
		return
	}
	text := f.Error
	if rest, found := strings.CutPrefix(text, formerlyDismissed); found {
		text = ask.ErrCancelled.Error() + rest
	}
	for _, u := range UnansweredErrors {
		rest, found := strings.CutPrefix(text, u.Err.Error())
		detail, detailed := strings.CutPrefix(rest, ": ")
		if found && (rest == "" || detailed) {
			f.Status, f.Error, f.Ask = Unanswered, "", &UnansweredAsk{Reason: u.Reason, Detail: detail}
			return
		}
	}
}

// formerlyDismissed is the text of [ask.ErrCancelled] in earlier versions.
const formerlyDismissed = "the question was cancelled"

// UnansweredErrors has the errors of questions without an answer, and the reasons that
// they are of a run's end.
var UnansweredErrors = []struct {
	Err    error
	Reason UnansweredReason
}{
	{ask.ErrDeclined, ReasonDeclined},
	{ask.ErrCancelled, ReasonDismissed},
	{ask.ErrTimeout, ReasonExpired},
	{ask.ErrUnsupported, ReasonUnreachable},
	{ask.ErrInvalid, ReasonInvalid},
}
