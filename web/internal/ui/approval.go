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

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/artifacts"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// An approvalView is a question to a model that Beam can send, prepared for rendering.
type approvalView struct {
	*sampling.State
	*sampling.Offer
	request  *ask.SampleRequest // the version that is sent unless the person changes it
	preview  Preview
	prefix   string // of the ids of the form, other than those of the form of the next call
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

// A Preview is what would be sent. It shows what is wrong instead if that isn't empty.
type Preview struct {
	sampling.Version
	Problem string
	by      string // who approved this version before; empty if nobody did, or the name isn't known
	id      string
	models  *llm.Models
}

// PreviewID returns the id of the element that has the preview of what a question's next call
// would send.
func PreviewID(askID string, call int) string { return approvalPrefix(askID, call) + "-preview" }

func approvalPrefix(askID string, call int) string {
	return askElementID(askID) + "-c" + strconv.Itoa(call)
}

// PreviewOf returns what is in that element.
func PreviewOf(askID string, call int, models *llm.Models, p Preview) templ.Component {
	p.id, p.models = PreviewID(askID, call), models
	return preview(p)
}

// PreviewErrors returns a preview of a decision that isn't valid.
func PreviewErrors(errs []generators.FieldError) Preview {
	var sentences []string
	for _, e := range errs {
		sentences = append(sentences, driver.Sentence(e, approvalLabels[driver.FieldOf(e)]))
	}
	return Preview{Problem: strings.Join(sentences, " ")}
}

// where says where the request goes.
func (p Preview) where() string {
	m := p.models.Lookup(p.Choice)
	return "To " + m.Name + ", at " + m.Endpoint + "/chat/completions: about " + humanize.CountOf(p.Tokens, "token", "tokens") + " (an estimate)."
}

// maxEditable is how much text can be edited on the page, in bytes: it is posted back.
const maxEditable = 300_000

// SampleForm is [AskForm] for a question to a model that can be sent to one of the
// configured models. If values aren't nil, they fill the fields.
func SampleForm(a *timeline.Ask, models *llm.Models, errs []generators.FieldError, values url.Values) templ.Component {
	return askDialog(newSampleView(a, models, errs, values, nil))
}

// newSampleView returns the view of an open question of a run. Only one to a model that
// can be sent has an approval.
func newSampleView(a *timeline.Ask, models *llm.Models, errs []generators.FieldError, values url.Values, shown *Preview) *askView {
	v := newAskView(a.OpenAsk, errs, values)
	if a.Sampling == nil {
		return v
	}
	request := a.Sampling.Request(asking.SampleOf(a.Question))
	offer := sampling.NewOffer(models, request, a.Sampling)
	if offer == nil {
		return v
	}
	v.approval = &approvalView{
		State: a.Sampling, Offer: offer, request: request, server: a.Question.Server, values: values, prefix: approvalPrefix(a.ID, a.Sampling.Call+1),
		messages: messageViews(request), errors: make(map[string]string), editable: textSize(request) <= maxEditable,
	}
	for _, e := range errs {
		v.approval.errors[driver.FieldOf(e)] = driver.Sentence(e, approvalLabels[driver.FieldOf(e)])
	}
	if shown == nil {
		shown = &Preview{Version: sampling.DescribeVersion(asking.SampleOf(a.Question), request, offer.Choice.Model, offer.Body), Problem: offer.Problem, by: a.ChangedBy}
	}
	v.approval.preview = *shown
	v.approval.preview.id, v.approval.preview.models = v.approval.prefix+"-preview", models
	return v
}

// approvalLabels are the labels of the fields of an approval, in errors.
var approvalLabels = map[string]string{
	"model": "Model", "maxTokens": "Longest reply", "messages": "The request", "temperature": "Temperature", "stopSequences": "Stop sequences", "tools": "Tools", "toolChoice": "Tool choice", "scope": "Requests", "requests": "Number of requests", "tokens": "Number of tokens", "text": "Answer",
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

// describeCandidate says what a model is, in a line of a list.
func describeCandidate(c llm.Candidate) string {
	text := c.Name + " · " + c.Host()
	if c.MaxTokens > 0 {
		text += " · replies of at most " + humanize.CountOf(c.MaxTokens, "token", "tokens")
	}
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
	list = append(list, fact{"Reply", "at most " + humanize.CountOf(a.request.MaxTokens, "token", "tokens")})
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
func hidesText(text string) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return hiding.MatchString(text) || cleantext.Text(text) != text
}

// pictureURL returns the address of a picture of a message; empty if browsers don't show
// its type.
func (b blockView) pictureURL() string {
	if !artifacts.IsImage(b.MIMEType) {
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
		if b.Type != askdata.BlockText {
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
	default:
		text += " is asked"
	}
	if a.Request != nil {
		text += "; the request was changed"
		if m.ChangedBy != "" {
			text += " by " + m.ChangedBy
		}
		text += " before it was approved"
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
	switch {
	case a.Parked != nil:
		return "can’t be answered now"
	case a.Excluded:
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
