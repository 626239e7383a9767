// Package manual serves the documentation.
package manual

import (
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/photon-beam/beam/docs"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/lists"
	"github.com/photon-beam/beam/web/internal/markup"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Handlers serve the documentation.
type Handlers struct {
	Links links.Base
	Pages *page.Renderer
}

// docOrder are the documents that come first; the others follow by name.
var docOrder = []string{"tutorial", "photons", "questions", "changing", "testing", "connect", "terminal", "upstream", "sampling", "http", "mcp", "operations", "trust", "team", "oauth", "apps", "embedding", "forms"}

// A doc is a document of the documentation.
type doc struct {
	name, title string
	body        []byte // without the title
	sections    []docSection
}

// A docSection is what a search finds.
type docSection struct{ heading, id, text string }

// picturePattern matches pictures, which are not in the program.
var picturePattern = regexp.MustCompile(`(?m)^!\[.*\n`)

// readDocs returns the documentation.
var readDocs = sync.OnceValue(func() []*doc {
	byName := make(map[string]*doc)
	names := docOrder
	entries, err := fs.ReadDir(docs.Files, ".")
	if err != nil {
		panic(err) // it is in the program
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".md")
		source, err := fs.ReadFile(docs.Files, e.Name())
		if err != nil {
			panic(err)
		}
		title, body, _ := strings.Cut(strings.TrimPrefix(string(source), "# "), "\n")
		body = picturePattern.ReplaceAllString(body, "")
		byName[name] = &doc{name: name, title: title, body: []byte(body), sections: splitSections(title, body)}
		names = append(names, name)
	}
	var all []*doc
	for _, name := range names {
		if d := byName[name]; d != nil {
			all = append(all, d)
			delete(byName, name)
		}
	}
	return all
})

// splitSections splits a document at its headings.
func splitSections(title, body string) []docSection {
	sections := []docSection{{heading: title}}
	headingID := markup.HeadingIDs()
	inCode := false
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
		}
		if marks := strings.TrimLeft(line, "#"); !inCode && len(marks) < len(line) && strings.HasPrefix(marks, " ") {
			heading := strings.TrimSpace(marks)
			sections = append(sections, docSection{heading: strings.ReplaceAll(heading, "`", ""), id: headingID(heading)})
			continue
		}
		sections[len(sections)-1].text += line
	}
	return sections
}

// List lists the documents, or the sections that have the words of a search.
func (h *Handlers) List(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	search, err := request.Text(r.URL.Query(), "q")
	if err != nil {
		return err
	}
	page := ui.DocsPage{Search: search}
	for _, d := range readDocs() {
		page.Docs = append(page.Docs, ui.DocLink{Title: d.title, URL: h.Links.Doc(d.name)})
	}
	if page.Search != "" {
		page.Found = h.search(page.Search)
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.Docs(h.Pages.Chrome(r, caller, "Documentation"), page))
}

// maxFoundSections is how many sections a search lists.
const maxFoundSections = 50

// search returns the sections that have all words of a search.
func (h *Handlers) search(search string) (found []ui.DocLink) {
	words := lists.NewWords(search)
	for _, d := range readDocs() {
		for _, section := range d.sections {
			if !words.Match(d.title, section.heading, section.text) || len(found) == maxFoundSections {
				continue
			}
			link := ui.DocLink{Title: section.heading, In: d.title, URL: h.Links.Doc(d.name), Text: excerpt(section.text, words)}
			if section.id != "" {
				link.URL += "#" + section.id
			}
			found = append(found, link)
		}
	}
	return found
}

// excerpt returns the first line that has a word, or else nothing.
func excerpt(text string, words []string) string {
	const most = 200
	for line := range strings.Lines(text) {
		for _, w := range words {
			if at := strings.Index(strings.ToLower(line), w); at >= 0 {
				runes := []rune(strings.ToValidUTF8(line[max(0, at-80):], ""))
				return strings.TrimSpace(string(runes[:min(len(runes), most)]))
			}
		}
	}
	return ""
}

// Show renders a document.
func (h *Handlers) Show(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	for _, d := range readDocs() {
		if d.name != r.PathValue("name") {
			continue
		}
		html, err := markup.Document(d.body, func(to string) string { return docLink(h.Links, to) })
		if err != nil {
			return err
		}
		page := ui.DocPage{Title: d.title, HTML: html}
		for _, section := range d.sections[1:] {
			page.Sections = append(page.Sections, ui.DocLink{Title: section.heading, URL: "#" + section.id})
		}
		return h.Pages.Render(w, r, http.StatusOK, ui.Doc(h.Pages.Chrome(r, caller, d.title), page))
	}
	return problem.ErrPageNotFound
}

// docLink returns the address of what a document links to: another document's page, or a file
// of the source.
func docLink(base links.Base, to string) string {
	target, fragment, _ := strings.Cut(to, "#")
	switch {
	case strings.Contains(to, "://"), target == "":
		return to
	case path.Dir(target) == "." && strings.HasSuffix(target, ".md"):
		to = base.Doc(strings.TrimSuffix(target, ".md"))
	default:
		to = "https://github.com/photon-beam/beam/blob/main/" + path.Join("docs", target)
	}
	if fragment != "" {
		to += "#" + fragment
	}
	return to
}

// EachTitle calls add with the titles and addresses of the documents.
func (h *Handlers) EachTitle(add func(title, url string)) {
	for _, d := range readDocs() {
		add(d.title, h.Links.Doc(d.name))
	}
}
