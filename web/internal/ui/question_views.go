package ui

import (
	"encoding/json"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/askdata"
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
var questionViews = map[askdata.Kind]questionView{
	askdata.KindText: formView,
	askdata.KindSecret: {
		body: formQuestion, submit: submitButton, onPage: "Passwords don’t pass through a chat. Enter it on Beam’s page.",
	},
	askdata.KindConfirm:     confirmView,
	askdata.KindSelect:      formView,
	askdata.KindMultiSelect: formView,
	askdata.KindNumber:      formView,
	askdata.KindInteger:     formView,
	askdata.KindDate:        formView,
	askdata.KindDateTime:    formView,
	askdata.KindFile: {
		body: fileField, submit: submitButton, files: true, onPage: "Files don’t pass through a chat. Choose them on Beam’s page.",
	},
	askdata.KindForm: formView,
	askdata.KindURL:  {body: urlQuestion, submit: urlButtons},
	askdata.KindSample: {
		body: sampleQuestion, submit: submitButton, onPage: "Decide on Beam’s page, which shows what the model would get.",
	},
	askdata.KindRoots: formView,
}

// view returns the view of the question's kind. A question of a kind that this
// version doesn't know is shown as JSON.
func (v *askView) view() questionView {
	view, ok := questionViews[v.Question.Kind]
	switch {
	case !ok:
		return unknownView
	case v.Question.Kind == askdata.KindConfirm && !v.isConfirmation():
		return formView
	}
	return view
}

// questionJSON returns a question as JSON.
func questionJSON(q *askdata.Question) []byte {
	raw, err := json.Marshal(q)
	if err != nil {
		return nil
	}
	return raw
}
