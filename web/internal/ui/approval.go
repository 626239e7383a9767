package ui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// An approvalView is a question to a model that Beam can send, prepared for rendering.
type approvalView struct {
	*sampling.State
	*sampling.Offer
	request  *ask.SampleRequest
	server   string // the upstream server whose tool asks; empty for Beam's own
	messages []messageView
	values   url.Values // what the person has entered, if the form is rendered again
	errors   map[string]string
	editable bool
}

// A messageView is a message as it will be sent.
type messageView struct {
	speaker string
	blocks  []blockView
}

// A blockView is a part of a message. Name is of its form field.
type blockView struct {
	ask.SampleBlock
	name string
}

// maxEditable is how much text can be edited on the page, in bytes: it is posted back.
const maxEditable = 300_000

// SampleForm is [AskForm] for a question to a model that can be sent to one of the
// configured models. If values aren't nil, they fill the fields.
func SampleForm(a *timeline.Ask, models *llm.Models, errs []generators.FieldError, values url.Values) templ.Component {
	return withoutReturns(askDialog(newSampleView(a, models, errs, values)))
}

// newSampleView returns the view of an open question of a run. Only one to a model that
// can be sent has an approval.
func newSampleView(a *timeline.Ask, models *llm.Models, errs []generators.FieldError, values url.Values) *askView {
	v := newAskView(a.OpenAsk, errs, values)
	if a.Sampling == nil {
		return v
	}
	offer := sampling.NewOffer(models, a.Question.Sample)
	if offer == nil {
		return v
	}
	v.approval = &approvalView{
		State: a.Sampling, Offer: offer, request: a.Question.Sample, server: sampling.Server(a.Photon), values: values,
		messages: messageViews(a.Question.Sample), errors: make(map[string]string), editable: textSize(a.Question.Sample) <= maxEditable,
	}
	for _, e := range errs {
		v.approval.errors[e.Field()] = e.Sentence(approvalLabels[e.Field()])
	}
	return v
}

// approvalLabels are the labels of the fields of an approval, in errors.
var approvalLabels = map[string]string{
	"model": "Model", "maxTokens": "Longest reply", "messages": "The request", "scope": "Requests", "requests": "Number of requests", "tokens": "Number of tokens", "text": "Answer",
}

func messageViews(r *ask.SampleRequest) []messageView {
	list := make([]messageView, len(r.Messages))
	for i, m := range r.Messages {
		list[i].speaker = "User"
		if m.Role == ask.RoleAssistant {
			list[i].speaker = "Model"
		}
		blocks, _ := m.Blocks() // the question was validated
		for n, b := range blocks {
			list[i].blocks = append(list[i].blocks, blockView{b, BlockField(i, n)})
		}
	}
	return list
}

// BlockField returns the name of the form field of block n of message i: of its text, or
// whether to leave it out.
func BlockField(i, n int) string { return "block-" + strconv.Itoa(i) + "-" + strconv.Itoa(n) }

func textSize(r *ask.SampleRequest) int {
	n := len(r.SystemPrompt)
	for _, m := range r.Messages {
		n += len(m.Text())
	}
	return n
}

// value returns what a field has: what the person entered, or else what is given.
func (a *approvalView) value(name, given string) string {
	if a.values.Has(name) {
		return a.values.Get(name)
	}
	return given
}

func (a *approvalView) limit() string { return a.value("limit", strconv.Itoa(a.shownLimit())) }

// shownLimit returns the longest reply of the best model.
func (a *approvalView) shownLimit() int {
	if most := a.Candidates[0].MaxTokens; most > 0 {
		return min(a.request.MaxTokens, most)
	}
	return a.request.MaxTokens
}

func (a *approvalView) isChosen(c llm.Candidate) bool {
	return a.value("model", a.Candidates[0].Name) == c.Name
}

// describeCandidate says what a model is, in a line of a list.
func describeCandidate(c llm.Candidate) string {
	text := c.Name + " · " + c.Host()
	switch {
	case c.Unfit != "":
		text += " · " + c.Unfit
	case c.Hint != "":
		text += " · matches “" + humanize.Truncate(c.Hint, 40) + "”"
	}
	return text
}

// A fact is a property of a request, for people.
type fact struct{ label, text string }

// facts lists what a request has besides its messages.
func (a *approvalView) facts() []fact {
	r := a.request
	var list []fact
	if a.server != "" {
		list = append(list, fact{"Server", a.server})
	}
	list = append(list, fact{"Size", "about " + humanize.CountOf(a.Tokens, "token", "tokens") + " (an estimate), and a reply of at most " + humanize.CountOf(a.shownLimit(), "token", "tokens")})
	if r.Temperature != nil {
		list = append(list, fact{"Temperature", humanize.Number(*r.Temperature)})
	}
	if len(r.StopSequences) > 0 {
		list = append(list, fact{"Stops at", quoteAll(r.StopSequences)})
	}
	if p := describePreferences(r.ModelPreferences); p != "" {
		list = append(list, fact{"Wishes", p})
	}
	if r.IncludeContext != "" && r.IncludeContext != "none" {
		list = append(list, fact{"Context", "asks for " + r.IncludeContext + "; not sent: Beam adds no context"})
	}
	if len(r.Metadata) > 0 {
		list = append(list, fact{"Metadata", humanize.Truncate(string(r.Metadata), 500) + "; not sent"})
	}
	if r.ToolChoice != nil && r.ToolChoice.Mode != "" {
		list = append(list, fact{"Tool choice", r.ToolChoice.Mode})
	}
	return list
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	return strings.Join(quoted, ", ")
}

func describePreferences(p *ask.ModelPreferences) string {
	if p == nil {
		return ""
	}
	var parts []string
	for _, h := range p.Hints {
		if h.Name != "" {
			parts = append(parts, "“"+h.Name+"”")
		}
	}
	for _, pair := range []struct {
		name  string
		value *float64
	}{{"low cost", p.CostPriority}, {"speed", p.SpeedPriority}, {"intelligence", p.IntelligencePriority}} {
		if pair.value != nil {
			parts = append(parts, pair.name+" "+humanize.Number(*pair.value))
		}
	}
	return strings.Join(parts, ", ")
}

// A toolView is a tool that the model may use.
type toolView struct{ name, description, schema string }

func (a *approvalView) tools() []toolView {
	var list []toolView
	for _, raw := range a.request.Tools {
		var t struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
		if json.Unmarshal(raw, &t) == nil {
			list = append(list, toolView{t.Name, t.Description, string(t.InputSchema)})
		}
	}
	return list
}

// hiding matches Markdown that doesn't show all of its text when it is rendered: HTML,
// addresses of links and pictures, and definitions.
var hiding = regexp.MustCompile(`<[A-Za-z!?/]|\]\(|\]:|\]\[|&#?\w+;|^\[`)

// hidesText reports whether rendering a text as Markdown may not show all of it.
func hidesText(text string) bool { return hiding.MatchString(text) || countInvisible(text) > 0 }

// countInvisible counts the characters of a text that nobody sees.
func countInvisible(text string) int {
	n := 0
	for _, r := range text {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			n++
		}
	}
	return n
}

// visibleControls returns a text with invisible characters as their code points.
func visibleControls(text string) string {
	if countInvisible(text) == 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if countInvisible(string(r)) > 0 {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pictureURL returns the address of a picture of a message; empty if browsers don't show
// its type.
func (b blockView) pictureURL() string {
	if !imageTypes[b.MIMEType] {
		return ""
	}
	return "data:" + b.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
}

// soundURL returns the address of a sound of a message; empty if browsers don't play it.
func (b blockView) soundURL() string {
	if !soundTypes[b.MIMEType] {
		return ""
	}
	return "data:" + b.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
}

var soundTypes = map[string]bool{"audio/wav": true, "audio/x-wav": true, "audio/mpeg": true, "audio/mp3": true, "audio/ogg": true}

// media matches the data of pictures and sounds in a request.
var media = regexp.MustCompile(`[A-Za-z0-9+/]{400,}={0,2}`)

// shownBody returns the bytes that are sent, indented, with the data of pictures and
// sounds shortened.
func shownBody(body []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return string(body)
	}
	return media.ReplaceAllStringFunc(b.String(), func(data string) string {
		return data[:40] + fmt.Sprintf("… (%s in base64)", humanize.Bytes(int64(len(data))))
	})
}

// replyText returns the text of a reply that waits to be returned.
func (a *approvalView) replyText() string {
	if a.End == nil || a.End.Result == nil {
		return ""
	}
	return a.value("text", a.End.Result.Text())
}

// otherBlocks describes what a reply has besides text.
func (a *approvalView) otherBlocks() string {
	if a.End == nil || a.End.Result == nil {
		return ""
	}
	blocks, _ := a.End.Result.Blocks()
	var others []ask.SampleBlock
	for _, b := range blocks {
		if b.Type != ask.BlockText {
			others = append(others, b)
		}
	}
	return timeline.BlocksText(others)
}

// describeApproval says who approved a request, for which model.
func describeApproval(m *timeline.Model) string {
	a := m.Approval
	text := a.Model + " at " + hostOf(a.Endpoint)
	switch {
	case a.Repeats > 0:
		text += " is asked again, because Beam was restarted while it replied"
	case a.Standing != "":
		text += " is asked by " + a.Standing
	case a.Request != nil:
		text += " is asked; the request was changed before it was approved"
	default:
		text += " is asked"
	}
	return text
}

func hostOf(endpoint string) string {
	if u, err := url.Parse(endpoint); err == nil {
		return u.Host
	}
	return endpoint
}

// describeUsage says how a call ended.
func describeUsage(m *timeline.Model) string {
	end := m.End
	if end == nil {
		return ""
	}
	about := ""
	if end.Estimated {
		about = "about "
	}
	return about + humanize.CountOf(end.InputTokens, "token", "tokens") + " in, " + humanize.Thousands(end.OutputTokens) + " out"
}

// statusOf says in the timeline where an open question stands.
func statusOf(a *timeline.Ask) string {
	if a.Sampling != nil {
		switch a.Sampling.Phase {
		case sampling.Replying:
			return a.Sampling.Approval.Model + " is replying"
		case sampling.Replied:
			return "the reply waits to be returned"
		}
	}
	if a.Excluded {
		return "waiting for an answer from " + a.For
	}
	return "waiting for an answer"
}

// showLabel is the text of the link that shows an open question.
func showLabel(a *timeline.Ask) string {
	if a.Excluded {
		return "Show"
	}
	return "Answer"
}
