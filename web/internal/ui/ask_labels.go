package ui

import (
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/controls"
	"github.com/photon-beam/beam/web/internal/timeline"
)

func (v *askView) submitLabel() string {
	switch {
	case v.Question.Kind == askdata.KindURL && v.Question.UntilDone:
		return "Done"
	case v.Question.Kind == askdata.KindURL:
		return "I agree, continue"
	}
	return "Submit"
}

// unopenedLabel is [askView.submitLabel] for an address that wasn't opened here, which is all
// that a page can know.
func (v *askView) unopenedLabel() string {
	if v.Question.UntilDone {
		return "I haven’t opened it here, but I’m done"
	}
	return "I haven’t opened it; continue anyway"
}

// openedLabel is [askView.submitLabel] for who says so, where the page can't know it.
func (v *askView) openedLabel() string {
	if v.Question.UntilDone {
		return "I have opened it, and I’m done"
	}
	return "I have opened it, and agree"
}

// declineLabel returns the label of the button that refuses.
func (v *askView) declineLabel() string {
	switch {
	case v.approval == nil:
		return "Decline"
	case v.approval.Phase == sampling.Replied:
		return "Withhold"
	}
	return "Deny"
}

func (v *askView) yesLabel() string {
	yes, _ := form.ConfirmLabels(v.Question)
	return yes
}

func (v *askView) noLabel() string {
	_, no := form.ConfirmLabels(v.Question)
	return no
}

// acceptAttribute returns the accept attribute of a file input.
func (v *askView) acceptAttribute() string {
	if v.Question.File == nil {
		return ""
	}
	return strings.Join(v.Question.File.Types, ",")
}

// fileHint describes the files that the question accepts.
func (v *askView) fileHint() string {
	rules := v.Question.File
	if rules == nil {
		return "A file"
	}
	var parts []string
	switch {
	case rules.Max > 1 && rules.Min > 1:
		parts = append(parts, controls.FormatRange(rules.Min, rules.Max, "file", "files"))
	case rules.Max > 1:
		parts = append(parts, "up to "+humanize.CountOf(rules.Max, "file", "files"))
	}
	if len(rules.Types) > 0 {
		parts = append(parts, strings.Join(rules.Types, ", "))
	}
	if rules.MaxSize > 0 {
		parts = append(parts, "at most "+humanize.Bytes(rules.MaxSize)+eachSuffix(rules.Max))
	}
	return strings.Join(parts, " · ")
}

func eachSuffix(n int) string {
	if n > 1 {
		return " each"
	}
	return ""
}

// fileDescriptionIDs returns the ids of the elements that describe the file input: its
// error, if any, and its hint.
func (v *askView) fileDescriptionIDs() string {
	hint := v.id + "-file-hint"
	if len(v.fileErrors) > 0 {
		return v.id + "-file-error " + hint
	}
	return hint
}

// closedReason describes the outcome of a question in a sentence.
func closedReason(a *timeline.Ask) string {
	outcome := describeOutcome(a)
	if strings.HasPrefix(outcome, "expired") {
		return "This question " + outcome + "."
	}
	return "This question was " + outcome + "."
}
