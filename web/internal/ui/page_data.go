package ui

import (
	"cmp"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/web/internal/controls"
)

// Chrome is the data of the bar and the sidebar around every page.
type Chrome struct {
	Title      string        // the document's title, if the page has none
	Photons    []PhotonLink  // Beam's own, or the first of them
	AllPhotons int           // how many they are, if those are not all
	Servers    []ServerTools // the tools of upstreams
	RecentRuns []RunLine     // newest first
	OpenAsks   int           // open questions that this person may answer
	Person     string        // who is signed in, for people; may be empty
	SignedIn   bool          // the person can sign out
	Anonymous  bool          // nobody knows who the person is, so the page can have no lists
	Upstreams  bool          // the person may see the pages of upstreams
	// ClientWaits means that an MCP client waits for an answer, and that this browser
	// would see its runs if it had signed in.
	ClientWaits   bool
	SignInCommand string // prints a sign-in address; empty if no command does

	Script    string   // URL of the Datastar bundle; empty for pages without script
	OwnScript string   // URL of beam.js, which requires the Datastar bundle
	Modules   []string // URLs of the modules that beam.js imports
	Style     string   // URL of the stylesheet
	Icon      string   // URL of the icon

	Theme string // light or dark; empty for the system's

	SearchQuery string
}

// A RunLine is a run in a list, with a summary of its input.
type RunLine struct {
	engine.Info
	Input string
	Owner string // what people call the owner, if it is somebody else
}

// An InboxLine is an open question in the inbox.
type InboxLine struct {
	engine.OpenAsk
	Owner string // what people call the run's owner, if it is somebody else
	Open  bool   // its form is shown, to be answered in place
}

// canOpen reports whether the inbox can show the question's form.
func (l *InboxLine) canOpen() bool {
	return l.Question != nil && l.Question.Kind != askdata.KindSample && !controls.HasShadowingField(l.Question.Fields)
}

// notes are what Beam says about the question, unless its form does.
func (l *InboxLine) notes() (text string) {
	if l.Open || l.Question == nil {
		return ""
	}
	for _, note := range l.Notes() {
		text += " · " + note
	}
	return strings.TrimSpace(text)
}

// pageLabel is the text of the link to the page that has the question.
func (l *InboxLine) pageLabel() string {
	if l.AskOnly {
		return "Open question"
	}
	return "Open run"
}

// A Link leads to one of Beam's own pages; the zero Link is none.
type Link struct{ URL, Text string }

// A PhotonLink is a photon in the sidebar.
type PhotonLink struct {
	Name    string
	Title   string
	Current bool
}

// ServerTools are the tools of an upstream in the sidebar.
type ServerTools struct {
	Name       string
	Tools      []PhotonLink // the first of them, and the one whose page it is
	Count      int          // of all
	HasCurrent bool         // the page is that of one of them
}

// HomePage is the first page: photons, or those that match a search.
type HomePage struct {
	Photons []PhotonCard
	Count   int    // of all photons
	Query   string // what is searched for
	Found   int    // how many photons match, on all pages
	After   string // the photon before the first; empty on the first page
	Next    string // the last photon, if others follow
}

// A PhotonCard is a photon on the first page, with its options.
type PhotonCard struct {
	Name  string
	Title string
	generators.Options
}

// PhotonPage is the data of a photon's page and its form.
type PhotonPage struct {
	Name     string
	Title    string
	Upstream string // whose tool it is; empty for Beam's own
	generators.Options
	// Fork is the run that the new one is forked from, up to the entry Until; empty for none.
	Fork, Until string
	Query       string // what the address fills in
	Examples    []Example
	Form        *form.Part
	Errors      []generators.FieldError
	// JSON is the text of the arguments as JSON; empty for that of the form.
	JSON      string
	JSONError string     // what is wrong with it, in a sentence
	View      string     // on a narrow screen, "json" shows the JSON, and "form" the form
	Focus     form.Focus // what has the focus after a change of the form
	Said      string     // what to announce
}

// An Example is arguments that fill in a photon's form.
type Example struct {
	Label string
	Query string // of the address of the filled-in form
}

// LoginPage is the data of the sign-in page.
type LoginPage struct {
	Error string
	Next  string // the path to open after signing in
	Token bool   // the server accepts a token
	// OpenID is what people call the identity provider; empty if there is none.
	OpenID string
	// SignInCommand is the command that prints a sign-in address; empty if there is none.
	SignInCommand string
}

// An AccountPage is the page about who is signed in.
type AccountPage struct {
	generators.Caller
	Name       string // what people call the caller
	Sessions   bool   // the browser has a session that can be ended
	Everywhere bool   // so can those of the same person elsewhere
}

// A DocsPage lists the documentation.
type DocsPage struct {
	Search string
	Docs   []DocLink
	Found  []DocLink // what a search has found
}

// A DocLink leads to a document or a section of one.
type DocLink struct {
	Title, URL string
	In         string // the document that the section is in
	Text       string // the beginning of what matches
}

// A DocPage is a document.
type DocPage struct {
	Title    string
	HTML     string // Beam's own
	Sections []DocLink
}

// A Hit is something that a search has found.
type Hit struct {
	Kind   string `json:"kind"`
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"` // what tells it apart
	URL    string `json:"url"`
}

// NewAskHit returns an open question as a hit.
func NewAskHit(o engine.OpenAsk, url string) Hit {
	return Hit{"Question", questionText(o), o.Asker(), url}
}

// NewRunHit returns a run as a hit.
func NewRunHit(r RunLine, url string) Hit {
	detail := []string{shortID(r.ID), stateName(r.State, r.Reason), formatAgo(r.Started)}
	if r.Input != "" {
		detail = append(detail, r.Input)
	}
	return Hit{"Run", cmp.Or(r.Title, r.Photon), strings.Join(detail, " · "), url}
}

// A SettingsPage is the settings, and what the server is.
type SettingsPage struct {
	Version, Address, MCP string
	Caller                string // the owner of what the person starts
	ServesMCP             bool
	Connected             []ConnectedClient
	Replicas              bool // the person may see the page of replicas
}

// themes are the color schemes; theme is as [Chrome] has it.
var themes = []struct{ value, theme, label string }{
	{"system", "", "As the system"},
	{"light", "light", "Light"},
	{"dark", "dark", "Dark"},
}
