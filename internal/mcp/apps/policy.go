package apps

import "github.com/photon-beam/beam/internal/askdata"

// A Place says where a question may be answered.
type Place int

// The places.
const (
	// InChat: the view has the form.
	InChat Place = iota
	// AcceptOnPage: passwords, files and requests to models don't pass through a chat.
	// The view can decline and cancel.
	AcceptOnPage
	// OnPage: only whoever is signed in to Beam's page may answer at all.
	OnPage
)

// PlaceOf returns where a question may be answered. Whatever arrives from a chat may come
// from its model instead of the person, so a question that says who may answer it is for
// those who have signed in.
func (p Policy) PlaceOf(q *askdata.Question) Place {
	switch {
	case q == nil, p.OnPage, q.Destructive && !p.Destructive, len(q.From) > 0, q.NotCaller:
		return OnPage
	case q.OnPage(), q.Kind == askdata.KindSample:
		return AcceptOnPage
	}
	return InChat
}

// Allows reports whether an action on a question may come from the chat.
func (p Policy) Allows(q *askdata.Question, action askdata.Action) bool {
	switch p.PlaceOf(q) {
	case InChat:
		return true
	case AcceptOnPage:
		return action != askdata.Accept
	}
	return false
}
