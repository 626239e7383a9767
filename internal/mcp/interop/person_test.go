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

// A person is who answers at a client: what it declares that it can ask, and
// what comes of it.
type person struct {
	forms, urls, sampling, roots bool

	// elicit answers. It may be called from several goroutines.
	elicit     func(ctx context.Context, q question) (answer, error)
	mu         sync.Mutex
	asked      []question
	onProgress func(progress)
}

// setOnProgress has all progress told to f, in the order in which the library tells it.
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

// answerQuestion puts a question to the person. The schema is anything that has its JSON.
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

// takeQuestions are those asked since the last time.
func (p *person) takeQuestions() []question {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

// formAnswers is what people fill in, by field.
var formAnswers = map[string]any{
	"text": "Ada", "confirm": true, "select": "pear", "select_titled": "g",
	"multiselect": []string{"apple", "plum"}, "multiselect_titled": []string{"r", "b"},
	"number": 2.5, "integer": 7, "date": "2026-05-17", "datetime": "2026-05-17T12:30:00Z", "code": "LHR",
	"name": "Ada", "mail": "ada@example.com", "age": 36, "plan": "pro", "news": false,
}

// fillForm fills in whatever form is asked. In forms of 2025-06-18 each of several
// choices is a field of its own.
func fillForm(_ context.Context, q question) (answer, error) {
	properties, _ := q.Schema["properties"].(map[string]any)
	content := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
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

// A pageUser is where a person answers on Beam's own page.
type pageUser struct{ browser *http.Client }

// answerToolQuestion answers at the address of a question.
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

// pageForm is what the page of a tool's question posts.
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
