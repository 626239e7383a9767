package message

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/runlog"
)

// Surface is the surface that runs and answers over MCP are recorded with.
const Surface = "mcp"

// CodeUserRejected is the error code of a response to sampling/createMessage whose request
// a person rejected (MCP, Sampling, Error Handling).
const CodeUserRejected = -1

// ParseAnswer returns the answer in a client's result for a question. The results
// of sampling/createMessage and roots/list have no action: they are accepts. It
// fails with a [*generators.InvalidError].
func (c *Client) ParseAnswer(q *askdata.Question, result json.RawMessage) (askdata.Answer, error) {
	if q.Kind == askdata.KindSample || q.Kind == askdata.KindRoots {
		return askdata.Answer{Action: askdata.Accept, Content: result}, nil
	}
	var a struct {
		Action  askdata.Action  `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(result, &a); err != nil {
		return askdata.Answer{}, invalidField("action", "the result must be an object with an action: accept, decline or cancel")
	}
	if a.Action != askdata.Accept {
		return askdata.Answer{Action: a.Action}, nil
	}
	if !c.VersionAtLeast(mcp.ProtocolVersion20251125) && len(q.Fields) > 0 {
		content, err := form.ContentFrom20250618(q.Fields, a.Content)
		if err != nil {
			return askdata.Answer{}, invalidField("content", err.Error())
		}
		a.Content = content
	}
	content, err := form.ConfirmContent(q, a.Content)
	return askdata.Answer{Action: askdata.Accept, Content: content}, err
}

// IsConsent reports whether an answer to a client's request for a question merely agrees
// to open Beam's page. It is not an answer yet: the person answers on the page.
func IsConsent(q *askdata.Question, a askdata.Answer) bool {
	return NeedsPage(q) && a.Action == askdata.Accept
}

func invalidField(field, message string) error {
	return &generators.InvalidError{Fields: []generators.FieldError{driver.At(field, message)}}
}

// A Settlement is the part of an answered or withdrawn entry that clients get.
// Decode one with [runlog.Decode].
type Settlement struct {
	AskSeq uint64 `json:"ask"`
	Answer struct {
		Action askdata.Action `json:"action"`
	} `json:"answer"`
	Surface string                `json:"by"` // where it was answered; empty if it was withdrawn
	Reason  runlog.WithdrawReason `json:"reason"`
	Error   string                `json:"error"` // why it was withdrawn, for people
}

// IsAccepted reports whether the question was answered and the answer accepts.
func (s *Settlement) IsAccepted() bool { return s.Answer.Action == askdata.Accept }

// Describe returns how the question was settled, for people.
func (s *Settlement) Describe() string {
	switch {
	case s.Surface != "":
		return "answered from " + s.Surface + " (" + string(s.Answer.Action) + ")"
	case s.Error != "":
		return "withdrawn (" + string(s.Reason) + "): " + s.Error
	}
	return "withdrawn (" + string(s.Reason) + ")"
}

type cancelledParams struct {
	RequestID string `json:"requestId"`
	Reason    string `json:"reason"`
}

// EncodeCancelled encodes the notification that takes a request back.
func EncodeCancelled(requestID, reason string) []byte {
	return EncodeNotification("notifications/cancelled", cancelledParams{requestID, reason})
}
