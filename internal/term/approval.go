package term

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"charm.land/huh/v2"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
)

// What a person does with a request to a model besides sending it to one. No model has such
// a name.
const (
	choiceAnswer = "!"
	choiceChange = "?"
)

// An approval is what a person fills in to send a request to a model.
type approval struct {
	question *Question
	choice   string // a model, or one of the above; empty until the person has chosen
	// The changes, if choice is choiceChange.
	model, system, message, limit string
	scope, later                  string // of a standing approval
}

func newApproval(q *Question) *approval {
	a := &approval{question: q, model: q.Models[0].Name}
	if r := q.request(); r != nil {
		a.system, a.limit = r.SystemPrompt, strconv.Itoa(r.MaxTokens)
		a.message, _ = a.lastText()
	}
	return a
}

// lastText returns the text of the last message, if that is all that the message has.
func (a *approval) lastText() (string, bool) {
	messages := a.question.request().Messages
	if len(messages) == 0 {
		return "", false
	}
	blocks, err := messages[len(messages)-1].Blocks()
	if err != nil || len(blocks) != 1 || blocks[0].Type != askdata.BlockText {
		return "", false
	}
	return blocks[0].Text, true
}

// options returns the choices: the models, and what else can be done.
func (a *approval) options() []huh.Option[string] {
	return append(a.modelOptions(), huh.NewOption("Answer it myself", choiceAnswer), huh.NewOption("Change it, or approve later ones", choiceChange))
}

func (a *approval) modelOptions() []huh.Option[string] {
	var options []huh.Option[string]
	for _, m := range a.question.Models {
		options = append(options, huh.NewOption(describeModel(m), m.Name))
	}
	return options
}

// groups returns the part of a form that asks for the changes.
func (a *approval) groups() []*huh.Group {
	hidden := func() bool { return a.choice != choiceChange }
	texts := []huh.Field{huh.NewText().Title("System prompt").Value(&a.system).ExternalEditor(false).ShowLineNumbers(false)}
	if _, ok := a.lastText(); ok {
		texts = append(texts, huh.NewText().Title("Last message").Value(&a.message).ExternalEditor(false).ShowLineNumbers(false).
			Validate(func(string) error { return a.checkMessage() }))
	}
	scopes := []huh.Option[string]{huh.NewOption("Only this request", "")}
	server := a.question.Server
	if server == "" || a.question.Tool != "" {
		scopes = append(scopes, huh.NewOption("Later ones of this tool, too", string(sampling.ScopeTool)))
	}
	if server != "" {
		scopes = append(scopes, huh.NewOption("Later ones of all tools of "+cleantext.Line(server)+", too", string(sampling.ScopeServer)))
	}
	return []*huh.Group{
		huh.NewGroup(texts...).WithHideFunc(hidden),
		huh.NewGroup(
			huh.NewSelect[string]().Title("Send it to").Options(a.modelOptions()...).Value(&a.model).Height(min(len(a.question.Models), maxRows)+2),
			huh.NewInput().Title("At most this many tokens").Value(&a.limit).Validate(func(string) error { return checkCount(a.limit) }),
			huh.NewSelect[string]().Title("Approve").Options(scopes...).Value(&a.scope).Height(len(scopes)+2),
		).WithHideFunc(hidden),
		huh.NewGroup(
			huh.NewInput().Title("At most this many later requests").Description("They are sent without asking you, and shown as they are sent.").
				Value(&a.later).Validate(func(string) error { return checkCount(a.later) }),
		).WithHideFunc(func() bool { return hidden() || a.scope == "" }),
	}
}

func (a *approval) checkMessage() error {
	if strings.TrimSpace(a.message) == "" {
		return errors.New("must not be empty")
	}
	return nil
}

func checkCount(text string) error {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err != nil || n < 1 {
		return errors.New("must be a whole number, at least 1")
	}
	return nil
}

// answer returns the decision; ok is false if the person answers in the model's place.
func (a *approval) answer() (_ runs.Answer, ok bool) {
	switch a.choice {
	case choiceAnswer:
		return runs.Answer{}, false
	case choiceChange:
		return runs.Answer{Action: askdata.Accept, Approve: a.decision()}, true
	}
	return runs.Answer{Action: askdata.Accept, Approve: &sampling.Decision{Call: a.call(), Model: a.choice}}, true
}

// call is the number that the call gets if the person has seen where the request stands.
func (a *approval) call() int { return a.question.Stands.Call + 1 }

// decision returns the changes to the version that was approved last. What was not changed
// stays as it is, byte for byte.
func (a *approval) decision() *sampling.Decision {
	d := &sampling.Decision{Call: a.call(), Model: a.model}
	shown := a.question.request()
	if a.system != shown.SystemPrompt {
		d.SystemPrompt = &a.system
	}
	if n, err := strconv.Atoi(strings.TrimSpace(a.limit)); err == nil && n != shown.MaxTokens {
		d.MaxTokens = n
	}
	if text, ok := a.lastText(); ok && a.message != text {
		d.Messages = slices.Clone(shown.Messages)
		last := &d.Messages[len(d.Messages)-1]
		last.Content = ask.FromUser(ask.TextBlock(a.message)).Content
	}
	if n, err := strconv.Atoi(strings.TrimSpace(a.later)); err == nil && a.scope != "" {
		d.Standing = &sampling.StandingRequest{Scope: sampling.Scope(a.scope), Requests: n}
	}
	return d
}

// describeModel names a model, and where it is: the request leaves this machine. It is
// short, for narrow terminals.
func describeModel(m sampling.ModelDescription) string {
	host := m.Endpoint
	if u, err := url.Parse(m.Endpoint); err == nil && u.Host != "" {
		host = u.Host
	}
	return cleantext.Line(m.Name + " (" + host + ")")
}
