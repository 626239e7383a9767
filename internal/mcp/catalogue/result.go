package catalogue

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/rawjson"
)

// A toolResult is a result of an upstream's tool (MCP, Tools, Tool Result), as people see
// it. The result itself goes to MCP clients as it is.
type toolResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
	IsError    bool              `json:"isError"`
}

// A contentBlock is a block of a result, with the members of all types.
type contentBlock struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Data        string `json:"data"`
	MimeType    string `json:"mimeType"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Resource    struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType"`
		Text     *string `json:"text"`
		Blob     string  `json:"blob"`
	} `json:"resource"`
}

// The limits of what of a result is shown to people.
const (
	maxShownBlocks = 500
	maxShownBlock  = 16 << 20 // bytes
)

// parseResult decodes a result.
func parseResult(raw json.RawMessage) (r toolResult, err error) {
	if rawjson.TypeName(raw) != rawjson.ObjectType {
		return r, errors.New("the server returned a result that is not an object")
	}
	if json.Unmarshal(raw, &r) != nil {
		return r, errors.New("the server returned a result that has not the form of a tool's")
	}
	if string(r.Structured) == "null" {
		r.Structured = nil
	}
	return r, nil
}

// show yields the blocks of a result as artifacts, and returns what is left for the
// run's own result, and its media type: what the tool returned to programs, or a single
// text. An error result is returned as an error with its text.
func (r *toolResult) show(yield generators.Yield) (value json.RawMessage, mediaType string, err error) {
	shown, texts := r.events()
	single := len(shown) == 1 && len(texts) == 1 && r.Structured == nil
	switch {
	case r.IsError:
		text := strings.TrimSpace(strings.Join(texts, "\n\n"))
		if len(text) <= maxErrorText {
			shown = dropTexts(shown)
		}
		if text == "" {
			text = "the tool reported an error, and said nothing about it"
		}
		err = errors.New(cleantext.Text(text))
	case single:
		return singleText(artifactOf(shown[0]))
	}
	for i, e := range shown {
		if i == maxShownBlocks {
			yield(generators.StatusAt(generators.Warning, "The result has "+humanize.Count(len(shown)-i, "more part")+" than are shown"))
			break
		}
		yield(e)
	}
	return r.Structured, "", err
}

// singleText returns a text as the run's result.
func singleText(a *generators.Artifact) (value json.RawMessage, mediaType string, _ error) {
	switch a.MediaType {
	case generators.JSONType:
		return a.Body, "", nil
	case generators.MarkdownType:
		return rawjson.EncodeText(string(a.Body)), generators.MarkdownType, nil
	}
	return rawjson.EncodeText(string(a.Body)), "", nil
}

// maxErrorText is the length in bytes of the longest error that is not shown as a text
// of its own, too.
const maxErrorText = 4 << 10

const plainType = "text/plain"

func artifactOf(e generators.Event) *generators.Artifact {
	a, ok := e.(*generators.Artifact)
	if !ok {
		return &generators.Artifact{}
	}
	return a
}

// textTitle is the title of artifacts that are texts.
const textTitle = "Text"

func dropTexts(shown []generators.Event) []generators.Event {
	var rest []generators.Event
	for _, e := range shown {
		if a := artifactOf(e); a.Title != textTitle {
			rest = append(rest, e)
		}
	}
	return rest
}

// events returns the blocks of a result as artifacts, and the texts among them. A text
// that only repeats the structured content for older clients is left out.
func (r *toolResult) events() (shown []generators.Event, texts []string) {
	for _, raw := range r.Content {
		var b contentBlock
		if json.Unmarshal(raw, &b) != nil {
			shown = append(shown, generators.JSON("Part of an unknown kind", raw))
			continue
		}
		if b.Type == "text" {
			if r.Structured != nil && sameJSON(b.Text, r.Structured) {
				continue
			}
			texts = append(texts, b.Text)
		}
		shown = append(shown, b.event(raw))
	}
	return shown, texts
}

// sameJSON reports whether a text is the JSON of a value, in whatever layout.
func sameJSON(text string, value json.RawMessage) bool {
	if text == "" || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) {
		return false
	}
	return bytes.Equal(canonical([]byte(text)), canonical(value))
}

// canonical returns a JSON value with its members in order.
func canonical(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return sorted
}

// event returns a block as an artifact.
func (b *contentBlock) event(raw json.RawMessage) generators.Event {
	if len(raw) > maxShownBlock {
		return generators.StatusAt(generators.Warning, "A part of the result is too large to be shown: "+humanize.Bytes(int64(len(raw))))
	}
	switch b.Type {
	case "text":
		return textEvent(textTitle, b.Text)
	case "image", "audio":
		return b.mediaEvent(raw)
	case "resource":
		return b.resourceEvent(raw)
	case "resource_link":
		return b.linkEvent()
	}
	return generators.JSON("Part of an unknown kind", raw)
}

// markdownPattern finds what only a text in Markdown has.
var markdownPattern = regexp.MustCompile("(?m)^(#{1,6} \\S|```|\\|[-: |]{3,}\\|\\s*$)|\\*\\*[^*\\n]+\\*\\*|\\]\\((https?:|data:)")

// textEvent returns a text as JSON, Markdown or plain text, whichever it is.
func textEvent(title, text string) generators.Event {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(trimmed)):
		return generators.JSON(title, json.RawMessage(trimmed))
	case markdownPattern.MatchString(text):
		return generators.Markdown(title, text)
	}
	return generators.File(title, plainType, []byte(text))
}

func (b *contentBlock) mediaEvent(raw json.RawMessage) generators.Event {
	body, err := decodeBase64(b.Data)
	if err != nil {
		return generators.JSON("Part that can't be decoded", raw)
	}
	title := "Image"
	if b.Type == "audio" {
		title = "Audio"
	}
	return wellFormed(generators.File(title, mediaType(b.MimeType), body))
}

// wellFormed returns an artifact as unknown data if its body doesn't have the form of its
// media type, which would end the run.
func wellFormed(e generators.Event) generators.Event {
	if _, _, err := driver.Encode(e); err != nil {
		artifactOf(e).MediaType = unknownType
	}
	return e
}

// unknownType is the media type of unknown data.
const unknownType = "application/octet-stream"

func (b *contentBlock) resourceEvent(raw json.RawMessage) generators.Event {
	r := &b.Resource
	if r.Text != nil {
		if r.MimeType == "" {
			r.MimeType = plainType
		}
		return wellFormed(generators.Resource(cleantext.Line(r.URI), mediaType(r.MimeType), []byte(*r.Text)))
	}
	body, err := decodeBase64(r.Blob)
	if err != nil {
		return generators.JSON("Part that can't be decoded", raw)
	}
	return wellFormed(generators.Resource(cleantext.Line(r.URI), mediaType(r.MimeType), body))
}

// linkEvent returns a link to a resource as Markdown. Only addresses of the web are
// links that a browser can open.
func (b *contentBlock) linkEvent() generators.Event {
	name := b.Title
	if name == "" {
		name = b.Name
	}
	target := "`" + strings.ReplaceAll(b.URI, "`", "%60") + "`"
	if u, err := url.Parse(b.URI); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil {
		target = "<" + u.String() + ">"
	}
	text := fmt.Sprintf("%s: %s", escapeMarkdown(cleantext.Line(name)), target)
	if b.Description != "" {
		text += "\n\n" + escapeMarkdown(cleantext.Line(b.Description))
	}
	return generators.Markdown("Link", text)
}

var markdownEscaper = regexp.MustCompile("[\\\\`*_{}\\[\\]()#+.!|<>~&:-]")

// escapeMarkdown returns a text as Markdown that shows it as it is, on one line.
func escapeMarkdown(text string) string {
	return markdownEscaper.ReplaceAllString(strings.Join(strings.Fields(text), " "), `\$0`)
}

// mediaType returns a media type without parameters, or that of unknown data if it is
// none.
func mediaType(declared string) string {
	t, _, err := mime.ParseMediaType(declared)
	if err != nil || !strings.Contains(t, "/") {
		return unknownType
	}
	return t
}

// decodeBase64 decodes base64 with or without padding and line breaks.
func decodeBase64(text string) ([]byte, error) {
	if body, err := base64.StdEncoding.DecodeString(text); err == nil {
		return body, nil
	}
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(text), ""), "="))
}
