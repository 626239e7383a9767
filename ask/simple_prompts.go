package ask

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

// The functions that return prompts are separate from those that ask so that the
// fields that they build don't stay on the stack while a question is open.

// Text asks for a line of text, or for several lines with [Long]. The key names the
// question within the run, and its field.
func Text(yield generators.Yield, key, message string, opts ...Option) (string, error) {
	return ForText(key, message, opts...).Ask(yield)
}

// ForText returns the prompt of [Text].
func ForText(key, message string, opts ...Option) *Prompt[string] {
	return newPrompt(key, message, askdata.KindText, nil, opts, decodeString)
}

// Secret asks for a text that nobody else may see. The page hides it while it is
// typed, the log keeps it sealed, and it is never part of a form over MCP.
func Secret(yield generators.Yield, key, message string, opts ...Option) (string, error) {
	return ForSecret(key, message, opts...).Ask(yield)
}

// ForSecret returns the prompt of [Secret].
func ForSecret(key, message string, opts ...Option) *Prompt[string] {
	return newPrompt(key, message, askdata.KindSecret, nil, opts, decodeString)
}

// Confirm asks for a yes or a no. It returns false without an error for a no; a
// decline is [ErrDeclined].
func Confirm(yield generators.Yield, key, message string, opts ...Option) (bool, error) {
	return ForConfirm(key, message, opts...).Ask(yield)
}

// ForConfirm returns the prompt of [Confirm].
func ForConfirm(key, message string, opts ...Option) *Prompt[bool] {
	return newPrompt(key, message, askdata.KindConfirm, nil, opts, decodeAs[bool])
}

// Select asks for one of several choices and returns its value.
func Select(yield generators.Yield, key, message string, choices []Choice, opts ...Option) (string, error) {
	return ForSelect(key, message, choices, opts...).Ask(yield)
}

// ForSelect returns the prompt of [Select].
func ForSelect(key, message string, choices []Choice, opts ...Option) *Prompt[string] {
	p := newPrompt(key, message, askdata.KindSelect, choices, opts, decodeString)
	if len(choices) == 0 && p.err == nil {
		p.err = fmt.Errorf("ask %q: field %q: needs at least one choice", key, key)
	}
	return p
}

// MultiSelect asks for any number of several choices, limited by [Items], and
// returns their values.
func MultiSelect(yield generators.Yield, key, message string, choices []Choice, opts ...Option) ([]string, error) {
	return ForMultiSelect(key, message, choices, opts...).Ask(yield)
}

// ForMultiSelect returns the prompt of [MultiSelect].
func ForMultiSelect(key, message string, choices []Choice, opts ...Option) *Prompt[[]string] {
	p := newPrompt(key, message, askdata.KindMultiSelect, choices, opts, decodeAs[[]string])
	f := &p.question.Fields[0]
	f.Required = f.Required && f.MinItems > 0
	return p
}

// Number asks for a number.
func Number(yield generators.Yield, key, message string, opts ...Option) (float64, error) {
	return ForNumber(key, message, opts...).Ask(yield)
}

// ForNumber returns the prompt of [Number].
func ForNumber(key, message string, opts ...Option) *Prompt[float64] {
	return newPrompt(key, message, askdata.KindNumber, nil, opts, decodeAs[float64])
}

// Integer asks for a whole number.
func Integer(yield generators.Yield, key, message string, opts ...Option) (int, error) {
	return ForInteger(key, message, opts...).Ask(yield)
}

// ForInteger returns the prompt of [Integer].
func ForInteger(key, message string, opts ...Option) *Prompt[int] {
	return newPrompt(key, message, askdata.KindInteger, nil, opts, decodeInt)
}

// decodeInt accepts 4.0 as 4, as JSON Schema does.
func decodeInt(raw json.RawMessage) (int, error) {
	var i int
	if json.Unmarshal(raw, &i) == nil {
		return i, nil
	}
	f, err := decodeAs[float64](raw)
	if err == nil && (f != math.Trunc(f) || math.Abs(f) > 1<<53) {
		err = fmt.Errorf("%s is not a whole number that fits an int", raw)
	}
	return int(f), err
}

// Date asks for a day and returns its midnight in UTC.
func Date(yield generators.Yield, key, message string, opts ...Option) (time.Time, error) {
	return ForDate(key, message, opts...).Ask(yield)
}

// ForDate returns the prompt of [Date].
func ForDate(key, message string, opts ...Option) *Prompt[time.Time] {
	return newPrompt(key, message, askdata.KindDate, nil, opts, decodeTime(time.DateOnly))
}

// DateTime asks for a date and time.
func DateTime(yield generators.Yield, key, message string, opts ...Option) (time.Time, error) {
	return ForDateTime(key, message, opts...).Ask(yield)
}

// ForDateTime returns the prompt of [DateTime].
func ForDateTime(key, message string, opts ...Option) *Prompt[time.Time] {
	return newPrompt(key, message, askdata.KindDateTime, nil, opts, decodeTime(time.RFC3339))
}

func decodeTime(layout string) func(json.RawMessage) (time.Time, error) {
	return func(raw json.RawMessage) (time.Time, error) {
		s, err := decodeString(raw)
		if err != nil {
			return time.Time{}, err
		}
		return time.Parse(layout, s)
	}
}

// URL asks the person to open an address, such as a sign-in page. It returns nil
// when they agree to open it, which over MCP is the accept of a URL mode request;
// with [UntilDone], it returns nil when they report on Beam's page that they are
// done. Either way, the photon must ask the other site whether they succeeded.
func URL(yield generators.Yield, key, message, address string, opts ...Option) error {
	_, err := ForURL(key, message, address, opts...).Ask(yield)
	return err
}

// ForURL returns the prompt of [URL]. Its value is always true.
func ForURL(key, message, address string, opts ...Option) *Prompt[bool] {
	p := &Prompt[bool]{key: key, question: &askdata.Question{Kind: askdata.KindURL, Message: message, URL: address}}
	p.err = p.applyOptions(opts)
	u, err := url.Parse(address)
	switch {
	case p.err != nil:
	case err != nil:
		p.err = fmt.Errorf("ask %q: %w", key, err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		p.err = fmt.Errorf("ask %q: %q is not an http or https address", key, address)
	}
	p.decode = func(driver.Reply) (bool, error) { return true, nil }
	return p
}
