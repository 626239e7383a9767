package ui

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/controls"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// An askView is a question prepared for rendering.
type askView struct {
	engine.OpenAsk
	id            string // of the dialog
	controls      []*controls.Control
	generalErrors []string      // errors that belong to no field, in sentences
	fileErrors    []string      // errors in the uploaded files, in sentences
	ownPage       bool          // the question is alone on its page
	noScript      bool          // the page has no script, so the question can't be postponed
	position      string        // "1 of 2", if several questions are open
	approval      *approvalView // of a question that can be sent to a model; nil for all others
}

func newAskView(o engine.OpenAsk, errs []generators.FieldError, values url.Values) *askView {
	v := &askView{OpenAsk: o, id: askElementID(o.ID)}
	if o.Question == nil {
		v.Question = &askdata.Question{Kind: askdata.KindConfirm}
	}
	var rest []generators.FieldError
	v.controls, rest = controls.New(v.id, form.FromFields(v.Question.Fields, values).Parts, errs)
	v.generalErrors = controls.Sentences(rest)
	if v.view().files {
		v.generalErrors = nil
		for _, e := range errs {
			if driver.FieldOf(e) == "file" {
				v.fileErrors = append(v.fileErrors, controls.FileSentence(e))
			} else {
				v.generalErrors = append(v.generalErrors, driver.Sentence(e, driver.FieldOf(e)))
			}
		}
	}
	if len(v.controls) == 1 && v.controls[0].Title == "" && v.Question.Message != "" {
		v.controls[0].LabelledBy = v.id + "-q"
	}
	return v
}

// AskForm returns the dialog that answers a question. Its id is "ask-" and the ask's
// id with "-" for ".". It shows errs beside their fields. Values that are not nil
// fill the fields; they must be nil in a patch, since a patched page keeps what the
// person typed.
func AskForm(o engine.OpenAsk, errs []generators.FieldError, values url.Values) templ.Component {
	return askDialog(newAskView(o, errs, values))
}

// AskUnavailable returns the dialog that replaces a question that can no longer be
// answered; message says why.
func AskUnavailable(o engine.OpenAsk, message string) templ.Component {
	return askUnavailable(newAskView(o, nil, nil), message)
}

func (v *askView) busySignal() string {
	_, seq, _ := runlog.SplitAskID(v.ID)
	return "_busy" + strconv.FormatUint(seq, 10)
}

// openedSignal is the signal that says whether the question's address was opened on the page.
func (v *askView) openedSignal() string {
	_, seq, _ := runlog.SplitAskID(v.ID)
	return "_opened" + strconv.FormatUint(seq, 10)
}

// parkedQuery tells the stream of the question's own page that it shows why the run is parked.
func (v *askView) parkedQuery() string {
	if v.Parked != nil {
		return "&parked"
	}
	return ""
}

// maxEarlierAnswers is how many earlier answers are shown beside a question.
const maxEarlierAnswers = 20

// briefAnswers returns the latest answers in one line, the latest first.
func briefAnswers(list []*timeline.Ask) string {
	var parts []string
	for i := len(list) - 1; i >= 0 && len(parts) < 4; i-- {
		if a := list[i]; len(a.Values) > 0 {
			text, _, _ := strings.Cut(a.Values[0].Text, "\n")
			if questionViews[a.Question.Kind].files {
				text = a.Values[0].Label
			}
			parts = append(parts, humanize.Truncate(text, 40))
		}
	}
	return strings.Join(parts, " · ")
}

// needsOwnPage reports whether the question can't be answered on a page with script.
func (v *askView) needsOwnPage() bool {
	return !v.ownPage && !v.noScript && controls.HasShadowingField(v.Question.Fields)
}

func (v *askView) isConfirmation() bool {
	return v.Question.Kind == askdata.KindConfirm && len(v.Question.Fields) == 1
}

// AskClosedPage is the page of a closed question. It shows what somebody entered in its form
// too late.
func AskClosedPage(c Chrome, a *timeline.Ask, entered url.Values) templ.Component {
	return askClosedPage(c, a, controls.Entered(a.Question, entered))
}

// AskClosed replaces a question on its own page.
func AskClosed(a *timeline.Ask) templ.Component { return closedView(a, true) }

// AskClosedInDock replaces a question on its run's page.
func AskClosedInDock(a *timeline.Ask) templ.Component { return closedView(a, false) }
