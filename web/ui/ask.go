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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web/timeline"
)

// askView is a question as it is drawn.
type askView struct {
	run.Open
	id       string // in the document
	controls []*control
	other    []string // what is wrong and belongs to no field
	files    []string // what is wrong with the files
	alone    bool     // it has a page of its own
	plain    bool     // no script: nothing can be put off
	place    string   // "1 of 2", if there are several
}

func newAskView(o run.Open, errs []generators.FieldError, values url.Values) *askView {
	v := &askView{Open: o, id: cssID(o.ID)}
	if o.Question == nil {
		v.Question = &ask.Question{Kind: ask.KindConfirm}
	}
	v.controls = controls(v.id, v.Question.Fields, values, errs)
	v.other = otherErrors(v.Question.Fields, errs)
	if v.Question.Kind == ask.KindFile {
		v.other = nil
		for _, e := range errs {
			if e.Field() == "file" {
				v.files = append(v.files, e.Message)
			} else {
				v.other = append(v.other, e.Message)
			}
		}
	}
	if len(v.controls) == 1 && v.controls[0].Title == "" && v.Question.Message != "" {
		v.controls[0].by = v.id + "-q"
	}
	return v
}

// AskForm is the dialog in which a question is answered. Its id is ask-, and
// the ask's id with "-" for ".". Errors stand beside their fields. Values are
// put back into the fields unless they are nil; a page that is patched keeps
// what was typed by itself, so there they must be nil.
func AskForm(o run.Open, errs []generators.FieldError, values url.Values) templ.Component {
	return oneLine(askDialog(newAskView(o, errs, values)))
}

// AskGone is shown in the place of a question that can't be answered any more;
// message says why.
func AskGone(o run.Open, message string) templ.Component {
	return oneLine(askGone(newAskView(o, nil, nil), message))
}

func (v *askView) action(action string) string {
	return "/mcp/request?ask=" + safeID(v.ID) + "&action=" + action
}

// post is the expression that submits a form; busy is the signal that says that
// one is on its way.
func (v *askView) post(action string) string {
	return "$" + v.busy() + " || @post('" + v.action(action) + "',{contentType:'form',retry:'never'})"
}

func (v *askView) busy() string {
	_, seq, _ := log.SplitAskID(v.ID)
	return "_busy" + strconv.FormatUint(seq, 10)
}

// maxEarlier is how many earlier answers stand beside a question.
const maxEarlier = 20

// inBrief are answers in one line, the latest first.
func inBrief(list []*timeline.Ask) string {
	var parts []string
	for i := len(list) - 1; i >= 0 && len(parts) < 4; i-- {
		if a := list[i]; len(a.Values) > 0 {
			text, _, _ := strings.Cut(a.Values[0].Text, "\n")
			if a.Question.Kind == ask.KindFile {
				text = a.Values[0].Label
			}
			parts = append(parts, clipped(text, 40))
		}
	}
	return strings.Join(parts, " · ")
}

// clipped is at most n characters of a text.
func clipped(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// elsewhere tells whether the question can't be answered on a page with script.
func (v *askView) elsewhere() bool { return !v.alone && !v.plain && shadows(v.Question.Fields) }

func (v *askView) multipart() bool { return v.Question.Kind == ask.KindFile }
func (v *askView) confirm() bool {
	return v.Question.Kind == ask.KindConfirm && len(v.Question.Fields) == 1
}
func (v *askView) submit() string {
	switch {
	case v.Question.Kind == ask.KindURL && v.Question.UntilDone:
		return "Done"
	case v.Question.Kind == ask.KindURL:
		return "I agree, continue"
	}
	return "Submit"
}

func (v *askView) yes() string {
	switch {
	case v.Question.Yes != "":
		return v.Question.Yes
	case v.Question.Destructive:
		return deed(v.Question.Message)
	}
	return "Yes"
}

func (v *askView) no() string {
	if v.Question.No != "" {
		return v.Question.No
	}
	return "No"
}

// deed makes a button's words of a destructive question: "Delete 3 files?" is
// "Yes, delete 3 files".
func deed(question string) string {
	const otherwise = "Yes, go ahead"
	s, ok := strings.CutSuffix(strings.TrimSpace(question), "?")
	for _, opening := range []string{"Shall I ", "Should I ", "Do you want to ", "Really ", "May I ", "Can I "} {
		s = strings.TrimPrefix(s, opening)
	}
	first, _, _ := strings.Cut(strings.ToLower(s), " ")
	if !ok || s == "" || len(s) > 40 || strings.ContainsAny(s, ".?!\n") || notVerbs[first] {
		return otherwise
	}
	return "Yes, " + strings.ToLower(s[:1]) + s[1:]
}

var notVerbs = map[string]bool{
	"are": true, "is": true, "am": true, "do": true, "does": true, "did": true, "have": true, "has": true, "shall": true,
	"should": true, "will": true, "would": true, "can": true, "could": true, "may": true, "might": true, "must": true, "was": true, "were": true,
	"what": true, "which": true, "who": true, "when": true, "where": true, "why": true, "how": true, "ok": true, "okay": true, "i": true, "you": true, "the": true, "this": true, "that": true, "sure": true, "yes": true, "no": true, "want": true,
}

// accept is the accept attribute of a file input.
func (v *askView) accept() string {
	if v.Question.File == nil {
		return ""
	}
	return strings.Join(v.Question.File.Types, ",")
}

// address is a URL in the parts that its reader should tell apart.
type address struct {
	link                string // the address itself; empty if it is no http or https address
	before, host, after string // as it is shown
	warnings            []string
}

func readAddress(s string) address {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return address{before: visible(s)}
	}
	a := address{link: s, before: visible(s)}
	if before, after, ok := cutHost(s, u); ok {
		a.before, a.host, a.after = visible(before), visible(u.Host), visible(after)
	}
	if u.User != nil {
		a.warnings = append(a.warnings, "What stands before the @ is not the site. The site is "+visible(u.Host)+".")
	}
	host := u.Hostname()
	if strings.Contains("."+strings.ToLower(host), ".xn--") || strings.ContainsFunc(host, func(r rune) bool { return r > 127 }) {
		a.warnings = append(a.warnings, "The site's name has letters that can look like others.")
	}
	if u.Scheme == "http" && !loopback(host) {
		a.warnings = append(a.warnings, "The connection to this site is not encrypted.")
	}
	return a
}

// cutHost cuts an address around its host, which stands after the scheme and
// who signs in.
func cutHost(s string, u *url.URL) (before, after string, ok bool) {
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

// visible writes what can't be seen, or can reorder what stands around it, as it
// travels: in percent signs.
func visible(s string) string {
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

func loopback(host string) bool {
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
		parts = append(parts, between(rules.Min, rules.Max, "file", "files"))
	case rules.Max > 1:
		parts = append(parts, "up to "+count(rules.Max, "file", "files"))
	}
	if len(rules.Types) > 0 {
		parts = append(parts, strings.Join(rules.Types, ", "))
	}
	if rules.MaxSize > 0 {
		parts = append(parts, "at most "+timeline.Bytes(rules.MaxSize)+each(rules.Max))
	}
	return strings.Join(parts, " · ")
}

func each(n int) string {
	if n > 1 {
		return " each"
	}
	return ""
}

// fileNotes are the ids of what describes the file input: what is wrong with
// the choice, if anything, and what may be chosen.
func (v *askView) fileNotes() string {
	hint := v.id + "-file-hint"
	if len(v.files) > 0 {
		return v.id + "-file-error " + hint
	}
	return hint
}
