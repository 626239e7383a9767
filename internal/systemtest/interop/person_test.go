package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A person is the user of a client: what the client declares for them, and how they
// answer.
type person struct {
	forms, urls, sampling, roots bool

	// elicit returns the answer. It may be called concurrently.
	elicit     func(ctx context.Context, q question) (answer, error)
	mu         sync.Mutex
	asked      []question
	onProgress func(progress)
}

// setOnProgress makes f receive all progress, in the order in which the library reports
// it.
func (p *person) setOnProgress(f func(progress)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onProgress = f
}

func (p *person) reportProgress(told progress) {
	p.mu.Lock()
	f := p.onProgress
	p.mu.Unlock()
	if f != nil {
		f(told)
	}
}

type question struct {
	Mode, Message, URL string
	Schema             map[string]any
}

type answer struct {
	Action  string
	Content map[string]any
}

type progress struct {
	Token           any
	Progress, Total float64
	Message         string
}

func answerDecline(context.Context, question) (answer, error) { return answer{Action: "decline"}, nil }
func answerCancel(context.Context, question) (answer, error)  { return answer{Action: "cancel"}, nil }

func newAccept(content map[string]any) answer { return answer{"accept", content} }

// answerQuestion asks the person a question. The schema is any value whose JSON is the
// schema.
func (p *person) answerQuestion(ctx context.Context, mode, message, url string, schema any) (answer, error) {
	q := question{Mode: mode, Message: message, URL: url}
	if raw, err := json.Marshal(schema); err == nil {
		_ = json.Unmarshal(raw, &q.Schema)
	}
	if q.Mode == "" {
		q.Mode = "form"
	}
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	return p.elicit(ctx, q)
}

// takeQuestions returns the questions since the last call.
func (p *person) takeQuestions() []question {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

// formAnswers are the values that people fill in, by field.
var formAnswers = map[string]any{
	"text": "Ada", "confirm": true, "select": "pear", "select_titled": "g",
	"multiselect": []string{"apple", "plum"}, "multiselect_titled": []string{"r", "b"},
	"number": 2.5, "integer": 7, "date": "2026-05-17", "datetime": "2026-05-17T12:30:00Z", "code": "LHR",
	"name": "Ada", "mail": "ada@example.com", "age": 36, "plan": "pro", "news": false,
}

// fillForm fills in any form. In forms of 2025-06-18, each choice of a multiple choice
// is a field of its own; in later ones, a confirmation is a choice.
func fillForm(_ context.Context, q question) (answer, error) {
	properties, _ := q.Schema["properties"].(map[string]any)
	content := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if property, _ := properties[name].(map[string]any); name == "confirm" && property["oneOf"] != nil {
			content[name] = "yes"
			continue
		}
		if v, ok := formAnswers[name]; ok {
			content[name] = v
			continue
		}
		field, choice, _ := strings.Cut(name, ".")
		chosen, ok := formAnswers[field].([]string)
		if !ok {
			return answer{}, fmt.Errorf("a form has the unknown field %q", name)
		}
		content[name] = slices.Contains(chosen, choice)
	}
	return newAccept(content), nil
}

// A pageUser answers on Beam's pages.
type pageUser struct{ browser *http.Client }

// answerToolQuestion answers on the page of a tool's question.
func (d *pageUser) answerToolQuestion(ctx context.Context, tool, address string) error {
	page, err := d.browser.Get(address)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(page.Body)
	page.Body.Close()
	if err != nil || page.StatusCode != http.StatusOK {
		return fmt.Errorf("the page of the question: %s %v\n%s", page.Status, err, body)
	}
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	id := u.Path[strings.LastIndex(u.Path, "/")+1:]
	u.Path, u.RawQuery = "/mcp/request", url.Values{"ask": {id}, "action": {"accept"}}.Encode()
	content, kind := pageForm(tool)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), content)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", "application/json")
	response, err := d.browser.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode >= 300 {
		return fmt.Errorf("answering on the page: %s\n%s", response.Status, body)
	}
	return nil
}

// pageForm returns the body that the page of a tool's question posts, and its content
// type.
func pageForm(tool string) (io.Reader, string) {
	if tool != "file" {
		return strings.NewReader(url.Values{"secret": {"hunter2"}}.Encode()), "application/x-www-form-urlencoded"
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreateFormFile("file", "notes.txt")
	io.WriteString(part, "hello")
	w.Close()
	return &b, w.FormDataContentType()
}
