package asks

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/ui"
)

// decodeDecision decodes the form of a page, which was filled with a version of a request.
func decodeDecision(action string, form url.Values, version *ask.SampleRequest) (d samplingDecision, err error) {
	d.Action = action
	switch action {
	case "return":
		if form.Has("text") {
			text := lineFeeds(form.Get("text"))
			d.Text = &text
		}
		return d, nil
	case "approve", "preview":
	default:
		return d, nil
	}
	d.Model, d.Review, d.Original = form.Get("model"), form.Get("review") != "", form.Get("original") != ""
	if err := readWhole(form, "call", &d.Call); err != nil {
		return d, err
	}
	numbers := map[string]*int{"limit": &d.MaxTokens}
	if scope := form.Get("scope"); scope != "" {
		d.Standing = &sampling.StandingRequest{Scope: sampling.Scope(scope)}
		numbers["requests"], numbers["tokens"] = &d.Standing.Requests, &d.Standing.Tokens
	}
	for name, number := range numbers {
		if err := readWhole(form, name, number); err != nil {
			return d, err
		}
	}
	if d.Original {
		d.MaxTokens = 0
		return d, nil
	}
	if system := lineFeeds(form.Get("system")); form.Has("system") && system != lineFeeds(version.SystemPrompt) {
		d.SystemPrompt = &system
	}
	d.Messages = editedMessages(form, version)
	return d, decodeParameters(form, version, &d.Decision)
}

// decodeParameters decodes what is sent besides messages, as far as it was changed.
func decodeParameters(form url.Values, version *ask.SampleRequest, d *sampling.Decision) error {
	if text := strings.TrimSpace(form.Get("temperature")); form.Has("temperature") && text != ui.FormatTemperature(version.Temperature) {
		if text == "" {
			d.Omit = append(d.Omit, "temperature")
		} else if n, err := strconv.ParseFloat(text, 64); err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return invalidField("temperature", "must be a number, such as 0.7")
		} else {
			d.Temperature = &n
		}
	}
	if text := strings.TrimRight(lineFeeds(form.Get("stop")), "\n"); form.Has("stop") && text != ui.FormatStopSequences(version.StopSequences) {
		list, err := ui.ParseStopSequences(text)
		switch {
		case err != nil:
			return invalidField("stopSequences", err.Error())
		case list == nil:
			d.Omit = append(d.Omit, "stopSequences")
		default:
			d.StopSequences = list
		}
	}
	var kept []json.RawMessage
	for n, tool := range version.Tools {
		if !form.Has(ui.ToolField(n)) {
			kept = append(kept, tool)
		}
	}
	if kept == nil && len(version.Tools) > 0 {
		d.Omit = append(d.Omit, "tools")
	} else if len(kept) < len(version.Tools) {
		d.Tools = kept
	}
	if mode := form.Get("toolChoice"); form.Has("toolChoice") && mode != ui.ToolChoiceOf(version) {
		if mode == "" {
			d.Omit = append(d.Omit, "toolChoice")
		} else {
			d.ToolChoice = &ask.ToolChoice{Mode: mode}
		}
	}
	return nil
}

func invalidField(field, message string) error {
	return &generators.InvalidError{Fields: []generators.FieldError{driver.At(field, message)}}
}

// readWhole reads a whole number above 0, if the form has it.
func readWhole(form url.Values, name string, number *int) error {
	text := strings.TrimSpace(form.Get(name))
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		field := name
		if name == "limit" {
			field = "maxTokens"
		}
		return invalidField(field, "must be a whole number, at least 1")
	}
	*number = n
	return nil
}

// editedMessages returns the messages with the form's changes, or nil if there are none.
// What was not changed stays as it is, byte for byte.
func editedMessages(form url.Values, asked *ask.SampleRequest) []ask.SampleMessage {
	changed := false
	messages := []ask.SampleMessage{}
	for i, m := range asked.Messages {
		blocks, _ := m.Blocks() // the question was validated
		kept, edited := editBlocks(form, i, blocks)
		changed = changed || edited
		switch {
		case !edited:
			messages = append(messages, m)
		case len(kept) == 0:
		case m.Role == ask.RoleAssistant:
			messages = append(messages, ask.FromAssistant(kept...))
		default:
			messages = append(messages, ask.FromUser(kept...))
		}
	}
	if !changed {
		return nil
	}
	return messages
}

func editBlocks(form url.Values, message int, blocks []ask.SampleBlock) (kept []ask.SampleBlock, edited bool) {
	for n, b := range blocks {
		name := ui.BlockField(message, n)
		text := lineFeeds(form.Get(name))
		switch {
		case !form.Has(name), b.Type == askdata.BlockText && text == lineFeeds(b.Text):
			kept = append(kept, b)
			continue
		case b.Type == askdata.BlockText && strings.TrimSpace(text) != "":
			kept = append(kept, ask.TextBlock(text))
		}
		edited = true
	}
	return kept, edited
}

// lineFeeds returns a text with the line breaks that it had before a form posted it.
func lineFeeds(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}
