package ui

import (
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
	return "$" + v.busy() + " || @post('" + v.action(action) + "',{contentType:'form'})"
}

func (v *askView) busy() string {
	_, seq, _ := log.SplitAskID(v.ID)
	return "_busy" + strconv.FormatUint(seq, 10)
}

// takeFocus is the expression that brings the focus to a question when it
// comes, if the focus is nowhere and no keyboard would spring up on the screen.
const takeFocus = "document.activeElement === document.body && matchMedia('(pointer: fine)').matches && " +
	"(el.querySelector('input:not([type=hidden]), select, textarea') ?? el.querySelector('h2')).focus({preventScroll: true})"

// elsewhere tells whether the question can't be answered on a page with script.
func (v *askView) elsewhere() bool { return !v.alone && !v.plain && shadows(v.Question.Fields) }

func (v *askView) multipart() bool { return v.Question.Kind == ask.KindFile }
func (v *askView) confirm() bool {
	return v.Question.Kind == ask.KindConfirm && len(v.Question.Fields) == 1
}
func (v *askView) problems() int {
	n := len(v.other) + len(v.files)
	for _, c := range v.controls {
		n += len(c.errors)
	}
	return n
}

func (v *askView) hasDateTime() bool {
	for _, c := range v.controls {
		if c.widget == "datetime-local" {
			return true
		}
	}
	return false
}

func (v *askView) submit() string {
	if v.Question.Kind == ask.KindURL {
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
	before, host, after string
	ok                  bool // it is an http or https address
	warnings            []string
}

func readAddress(s string) address {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return address{before: s}
	}
	a := address{ok: true}
	if at := strings.Index(s, u.Host); at >= 0 {
		a.before, a.host, a.after = s[:at], s[at:at+len(u.Host)], s[at+len(u.Host):]
	} else {
		a.before = s
	}
	if u.User != nil {
		a.warnings = append(a.warnings, "What stands before the @ is not the site. The site is "+u.Host+".")
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
