package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/llm"
)

// value returns what a field has: what the person entered, or else what is given.
func (a *approvalView) value(name, given string) string {
	if a.values.Has(name) {
		return a.values.Get(name)
	}
	return given
}

func (a *approvalView) limit() string { return a.value("limit", strconv.Itoa(a.request.MaxTokens)) }

func (a *approvalView) temperature() string {
	return a.value("temperature", FormatTemperature(a.request.Temperature))
}

// FormatTemperature returns a temperature as its field has it; empty for none.
func FormatTemperature(t *float64) string {
	if t == nil {
		return ""
	}
	return strconv.FormatFloat(*t, 'g', -1, 64)
}

func (a *approvalView) stopSequences() string {
	return a.value("stop", FormatStopSequences(a.request.StopSequences))
}

// FormatStopSequences returns stop sequences as their field has them: one a line, with escapes
// for line breaks and what is invisible, such as \n.
func FormatStopSequences(list []string) string {
	lines := make([]string, len(list))
	for i, text := range list {
		quoted := strconv.Quote(text)
		lines[i] = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	}
	return strings.Join(lines, "\n")
}

// ParseStopSequences is the inverse of [FormatStopSequences]. It ignores empty lines.
func ParseStopSequences(field string) ([]string, error) {
	var list []string
	for line := range strings.SplitSeq(field, "\n") {
		if line == "" {
			continue
		}
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
		if err != nil {
			return nil, fmt.Errorf("must have no backslash but in escapes such as \\n and \\\\; the line %s has", strconv.Quote(line))
		}
		list = append(list, text)
	}
	return list, nil
}

// toolChoices are how a model may use tools, and what that is called.
var toolChoices = []struct{ mode, label string }{
	{"", "Not said"}, {"auto", "The model decides (auto)"}, {"required", "It must use one (required)"}, {"none", "It must use none (none)"},
}

func (a *approvalView) toolChoice() string { return a.value("toolChoice", ToolChoiceOf(a.request)) }

// ToolChoiceOf returns how the model may use tools; empty if the request doesn't say.
func ToolChoiceOf(r *ask.SampleRequest) string {
	if r.ToolChoice == nil {
		return ""
	}
	return r.ToolChoice.Mode
}

// ToolField returns the name of the field that leaves tool n out.
func ToolField(n int) string { return "tool-" + strconv.Itoa(n) }

func (a *approvalView) isChosen(c llm.Candidate) bool {
	return a.value("model", a.Choice.Name) == c.Name
}

// reviews reports whether the person reads the reply first, as after the last approval.
func (a *approvalView) reviews() bool {
	if a.values != nil {
		return a.values.Has("review")
	}
	return a.Approval.Review
}

// hasParameterError reports whether a parameter that is in the details of the form is wrong.
func (a *approvalView) hasParameterError() bool {
	for _, name := range []string{"messages", "temperature", "stopSequences", "tools", "toolChoice"} {
		if a.errors[name] != "" {
			return true
		}
	}
	return false
}
