package ui

import (
	"encoding/json"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/ask"
)

// A questionView is how a kind of question is rendered.
type questionView struct {
	body   func(*askView) templ.Component // what the person fills in
	submit func(*askView) templ.Component // the buttons that accept
	files  bool                           // the answer consists of uploaded files
	onPage string                         // why it is not answered in a chat; empty if it may be
}

var (
	formView    = questionView{body: formQuestion, submit: submitButton}
	confirmView = questionView{body: noFields, submit: yesNoButtons}
	unknownView = questionView{body: unknownQuestion, submit: submitButton}
)

// questionViews maps every kind of question to its view.
var questionViews = map[ask.Kind]questionView{
	ask.KindText: formView,
	ask.KindSecret: {
		body: formQuestion, submit: submitButton, onPage: "Passwords don’t pass through a chat. Enter it on Beam’s page.",
	},
	ask.KindConfirm:     confirmView,
	ask.KindSelect:      formView,
	ask.KindMultiSelect: formView,
	ask.KindNumber:      formView,
	ask.KindInteger:     formView,
	ask.KindDate:        formView,
	ask.KindDateTime:    formView,
	ask.KindFile: {
		body: fileField, submit: submitButton, files: true, onPage: "Files don’t pass through a chat. Choose them on Beam’s page.",
	},
	ask.KindForm: formView,
	ask.KindURL:  {body: urlQuestion, submit: urlButtons},
	ask.KindSample: {
		body: sampleQuestion, submit: submitButton, onPage: "Decide on Beam’s page, which shows what the model would get.",
	},
	ask.KindRoots: formView,
}

// view returns the view of the question's kind. A question of a kind that this
// version doesn't know is shown as JSON.
func (v *askView) view() questionView {
	view, ok := questionViews[v.Question.Kind]
	switch {
	case !ok:
		return unknownView
	case v.Question.Kind == ask.KindConfirm && !v.isConfirmation():
		return formView
	}
	return view
}

// questionJSON returns a question as JSON.
func questionJSON(q *ask.Question) []byte {
	raw, err := json.Marshal(q)
	if err != nil {
		return nil
	}
	return raw
}
