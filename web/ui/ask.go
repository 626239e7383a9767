package ui

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/timeline"
)

// askView is a question as it is drawn.
type askView struct {
	engine.OpenAsk
	id            string // in the document
	controls      []*formControl
	generalErrors []string // what is wrong and belongs to no field
	fileErrors    []string // what is wrong with the files
	ownPage       bool     // it has a page of its own
	noScript      bool     // no script: nothing can be put off
	position      string   // "1 of 2", if there are several
}

func newAskView(o engine.OpenAsk, errs []generators.FieldError, values url.Values) *askView {
	v := &askView{OpenAsk: o, id: askElementID(o.ID)}
	if o.Question == nil {
		v.Question = &ask.Question{Kind: ask.KindConfirm}
	}
	v.controls = newFormControls(v.id, v.Question.Fields, values, errs)
	v.generalErrors = generalErrors(v.Question.Fields, errs)
	if v.Question.Kind == ask.KindFile {
		v.generalErrors = nil
		for _, e := range errs {
			if e.Field() == "file" {
				v.fileErrors = append(v.fileErrors, e.Message)
			} else {
				v.generalErrors = append(v.generalErrors, e.Message)
			}
		}
	}
	if len(v.controls) == 1 && v.controls[0].Title == "" && v.Question.Message != "" {
		v.controls[0].labelledBy = v.id + "-q"
	}
	return v
}

// AskForm is the dialog in which a question is answered. Its id is ask-, and
// the ask's id with "-" for ".". Errors stand beside their fields. Values are
// put back into the fields unless they are nil; a page that is patched keeps
// what was typed by itself, so there they must be nil.
func AskForm(o engine.OpenAsk, errs []generators.FieldError, values url.Values) templ.Component {
	return withoutReturns(askDialog(newAskView(o, errs, values)))
}

// AskUnavailable is shown in the place of a question that can't be answered any more;
// message says why.
func AskUnavailable(o engine.OpenAsk, message string) templ.Component {
	return withoutReturns(askUnavailable(newAskView(o, nil, nil), message))
}

func (v *askView) actionURL(actionURL string) string {
	return "/mcp/request?ask=" + sanitizeID(v.ID) + "&action=" + actionURL
}

// postExpression is the expression that submits a form; busy is the signal that says that
// one is on its way.
func (v *askView) postExpression(action string) string {
	return "$" + v.busySignal() + " || @post('" + v.actionURL(action) + "',{contentType:'form',retry:'never'})"
}

func (v *askView) busySignal() string {
	_, seq, _ := runlog.SplitAskID(v.ID)
	return "_busy" + strconv.FormatUint(seq, 10)
}

// maxEarlierAnswers is how many earlier answers stand beside a question.
const maxEarlierAnswers = 20

// briefAnswers are answers in one line, the latest first.
func briefAnswers(list []*timeline.Ask) string {
	var parts []string
	for i := len(list) - 1; i >= 0 && len(parts) < 4; i-- {
		if a := list[i]; len(a.Values) > 0 {
			text, _, _ := strings.Cut(a.Values[0].Text, "\n")
			if a.Question.Kind == ask.KindFile {
				text = a.Values[0].Label
			}
			parts = append(parts, truncate(text, 40))
		}
	}
	return strings.Join(parts, " · ")
}

// truncate is at most n characters of a text.
func truncate(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// needsOwnPage tells whether the question can't be answered on a page with script.
func (v *askView) needsOwnPage() bool {
	return !v.ownPage && !v.noScript && hasShadowingField(v.Question.Fields)
}

func (v *askView) isMultipart() bool { return v.Question.Kind == ask.KindFile }
func (v *askView) isConfirmation() bool {
	return v.Question.Kind == ask.KindConfirm && len(v.Question.Fields) == 1
}
func (v *askView) submitLabel() string {
	switch {
	case v.Question.Kind == ask.KindURL && v.Question.UntilDone:
		return "Done"
	case v.Question.Kind == ask.KindURL:
		return "I agree, continue"
	}
	return "Submit"
}

func (v *askView) yesLabel() string {
	switch {
	case v.Question.Yes != "":
		return v.Question.Yes
	case v.Question.Destructive:
		return yesLabelFor(v.Question.Message)
	}
	return "Yes"
}

func (v *askView) noLabel() string {
	if v.Question.No != "" {
		return v.Question.No
	}
	return "No"
}

// yesLabelFor makes a button's words of a destructive question: "Delete 3 files?" is
// "Yes, delete 3 files".
func yesLabelFor(question string) string {
	const otherwise = "Yes, go ahead"
	s, ok := strings.CutSuffix(strings.TrimSpace(question), "?")
	for _, opening := range []string{"Shall I ", "Should I ", "Do you want to ", "Really ", "May I ", "Can I "} {
		s = strings.TrimPrefix(s, opening)
	}
	first, _, _ := strings.Cut(strings.ToLower(s), " ")
	if !ok || s == "" || len(s) > 40 || strings.ContainsAny(s, ".?!\n") || nonVerbs[first] {
		return otherwise
	}
	return "Yes, " + strings.ToLower(s[:1]) + s[1:]
}

var nonVerbs = map[string]bool{
	"are": true, "is": true, "am": true, "do": true, "does": true, "did": true, "have": true, "has": true, "shall": true,
	"should": true, "will": true, "would": true, "can": true, "could": true, "may": true, "might": true, "must": true, "was": true, "were": true,
	"what": true, "which": true, "who": true, "when": true, "where": true, "why": true, "how": true, "ok": true, "okay": true, "i": true, "you": true, "the": true, "this": true, "that": true, "sure": true, "yes": true, "no": true, "want": true,
}

// acceptAttribute is the accept attribute of a file input.
func (v *askView) acceptAttribute() string {
	if v.Question.File == nil {
		return ""
	}
	return strings.Join(v.Question.File.Types, ",")
}

// urlParts is a URL in the parts that its reader should tell apart.
type urlParts struct {
	link                string // the address itself; empty if it is no http or https address
	before, host, after string // as it is shown
	warnings            []string
}

func splitURL(s string) urlParts {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return urlParts{before: escapeInvisible(s)}
	}
	a := urlParts{link: s, before: escapeInvisible(s)}
	if before, after, ok := cutAroundHost(s, u); ok {
		a.before, a.host, a.after = escapeInvisible(before), escapeInvisible(u.Host), escapeInvisible(after)
	}
	if u.User != nil {
		a.warnings = append(a.warnings, "What stands before the @ is not the site. The site is "+escapeInvisible(u.Host)+".")
	}
	host := u.Hostname()
	if strings.Contains("."+strings.ToLower(host), ".xn--") || strings.ContainsFunc(host, func(r rune) bool { return r > 127 }) {
		a.warnings = append(a.warnings, "The site's name has letters that can look like others.")
	}
	if u.Scheme == "http" && !isLoopback(host) {
		a.warnings = append(a.warnings, "The connection to this site is not encrypted.")
	}
	return a
}

// cutAroundHost cuts an address around its host, which stands after the scheme and
// who signs in.
func cutAroundHost(s string, u *url.URL) (before, after string, ok bool) {
	authority := strings.Index(s, "//") + len("//")
	end := len(s)
	if n := strings.IndexAny(s[authority:], "/?#"); n >= 0 {
		end = authority + n
	}
	at := strings.LastIndex(s[authority:end], "@") + 1 + authority
	if s[at:end] != u.Host {
		return "", "", false
	}
	return s[:at], s[end:], true
}

// escapeInvisible writes what can't be seen, or can reorder what stands around it, as it
// travels: in percent signs.
func escapeInvisible(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// fileHint says which files are wanted.
func (v *askView) fileHint() string {
	rules := v.Question.File
	if rules == nil {
		return "A file"
	}
	var parts []string
	switch {
	case rules.Max > 1 && rules.Min > 1:
		parts = append(parts, formatRange(rules.Min, rules.Max, "file", "files"))
	case rules.Max > 1:
		parts = append(parts, "up to "+formatCount(rules.Max, "file", "files"))
	}
	if len(rules.Types) > 0 {
		parts = append(parts, strings.Join(rules.Types, ", "))
	}
	if rules.MaxSize > 0 {
		parts = append(parts, "at most "+timeline.FormatBytes(rules.MaxSize)+eachSuffix(rules.Max))
	}
	return strings.Join(parts, " · ")
}

func eachSuffix(n int) string {
	if n > 1 {
		return " each"
	}
	return ""
}

// fileDescriptionIDs are the ids of what describes the file input: what is wrong with
// the choice, if anything, and what may be chosen.
func (v *askView) fileDescriptionIDs() string {
	hint := v.id + "-file-hint"
	if len(v.fileErrors) > 0 {
		return v.id + "-file-error " + hint
	}
	return hint
}
