package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
)

// nestedPhoton returns its nested input.
var nestedPhoton = generators.New("nested", func(_ context.Context, in nestedInput, _ generators.Yield) (nestedInput, error) {
	return in, nil
}, nil)

type nestedInput struct {
	Title   string            `json:"title" title:"Title" minLength:"2"`
	Contact contact           `json:"contact" title:"Contact"`
	Servers []server          `json:"servers,omitempty" title:"Servers"`
	Labels  map[string]string `json:"labels,omitempty" title:"Labels"`
}

type contact struct {
	Email string `json:"email" title:"Email" format:"email"`
	Phone string `json:"phone,omitempty"`
}

type server struct {
	Host string `json:"host" title:"Host" minLength:"1"`
	Port int    `json:"port,omitempty" title:"Port" minimum:"1" maximum:"65535"`
}

const formPosted = "application/x-www-form-urlencoded"

func (p *browserSession) postForm(path string, values url.Values, headers ...string) *http.Response {
	p.t.Helper()
	return p.request("POST", path, values.Encode(), append([]string{"Content-Type", formPosted, "Accept", "text/html"}, headers...)...)
}

func expectContains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

// A Go photon with nested structs has a form, whose errors are beside the nested fields
// and in the JSON, with all that was typed.
func TestNestedForm(t *testing.T) {
	p := newSite(t, "", nestedPhoton).newSession()
	page := readText(t, p.request("GET", "/photons/nested", "", "Accept", "text/html"))
	expectContains(t, page, `name="contact/email"`, `value="add servers"`, `name="servers~rows" value="0"`, `name="beam:json"`)

	typed := url.Values{"title": {"Shop"}, "contact/email": {"nobody"}, "contact/phone": {""}, "servers~rows": {"2"}, "servers/0/host": {"a"}, "servers/1/port": {"70000"}, "labels~rows": {"1"}, "labels~k0": {"x"}, "labels~v0": {"y"}}
	res := p.postForm("/photons/nested/runs", typed)
	page = readText(t, res)
	if res.StatusCode != http.StatusUnprocessableEntity {
		t.Fatalf("status %d", res.StatusCode)
	}
	expectContains(t, page, "Fix 3 fields", `value="nobody"`, `value="70000"`, "Contact › Enter an email", "Servers › Server 2 › Enter a host",
		"<code>/servers/1/host</code>", "Line 10", `href="#in-2-1-0"`, `id="in-2-1-0"`)

	typed.Set("contact/email", "ada@example.org")
	typed.Set("servers/1/port", "80")
	typed.Set("servers/1/host", "b")
	res = p.postForm("/photons/nested/runs", typed)
	if res.StatusCode != http.StatusSeeOther {
		t.Fatalf("status %d: %s", res.StatusCode, readText(t, res))
	}
	readText(t, p.request("GET", res.Header.Get("Location")+"/events", "")) // until the run has ended
	run := readText(t, p.request("GET", res.Header.Get("Location"), "", "Accept", "text/html"))
	edit, _, _ := strings.Cut(run[strings.Index(run, "/photons/nested?")+len("/photons/nested"):], `"`)
	page = readText(t, p.request("GET", "/photons/nested"+strings.ReplaceAll(edit, "&amp;", "&"), "", "Accept", "text/html"))
	expectContains(t, page, `value="ada@example.org"`, `name="servers/1/host" value="b"`, `value="80"`, `name="labels~k0" value="x"`)
}

// The form and its JSON follow each other by the server, which starts nothing.
func TestFormFollowsJSON(t *testing.T) {
	p := newSite(t, "", nestedPhoton).newSession()
	typed := url.Values{"title": {"Shop"}, "contact/email": {"a@b.cd"}, "servers~rows": {"1"}, "servers/0/host": {"x"}, "servers/0/port": {""}, "beam:json": {"old"}}
	res := p.postForm("/photons/nested/form", typed, "Accept", "application/json")
	if got, want := readText(t, res), "{\n  \"title\": \"Shop\",\n  \"contact\": {\n    \"email\": \"a@b.cd\"\n  },\n  \"servers\": [\n    {\n      \"host\": \"x\"\n    }\n  ]\n}"; got != want {
		t.Errorf("the JSON is %s", got)
	}
	with := func(values ...string) url.Values {
		v := url.Values{}
		for name, list := range typed {
			v[name] = list
		}
		for i := 0; i < len(values); i += 2 {
			v.Set(values[i], values[i+1])
		}
		return v
	}
	page := readText(t, p.postForm("/photons/nested/form", with("beam:do", "add servers")))
	expectContains(t, page, "<html", `name="servers/1/host" value="" required autofocus`, `value="Shop"`, "Server 2 added")
	part := readText(t, p.postForm("/photons/nested/form", with("beam:do", "fill", "beam:json", `{"title":"From JSON","more":{"x":1}}`), "Datastar-Request", "true"))
	expectContains(t, part, `value="From JSON"`, `name="~others~k0" value="more"`)
	if strings.Contains(part, "<html") {
		t.Error("a page with script gets a whole page")
	}
	expectContains(t, readText(t, p.postForm("/photons/nested/form", with("beam:do", "fill", "beam:json", "{\n\"title\": oops"))), "line 2", "oops</textarea>", `value="Shop"`)

	for values, want := range map[string]int{"beam:do=add+nothing": 400, "beam:do=explode+servers": 400, "%zz": 400} {
		if res := p.request("POST", "/photons/nested/form", values, "Content-Type", formPosted, "Accept", "text/html"); res.StatusCode != want {
			t.Errorf("%s: status %d, want %d", values, res.StatusCode, want)
		}
	}
	if res := p.postForm("/photons/none/form", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown photon: status %d", res.StatusCode)
	}
	if res := p.request("GET", "/photons/nested/form", "", "Accept", "text/html"); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/photons/nested" {
		t.Errorf("GET: status %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	if runs := decodeJSON[map[string][]any](t, p.request("GET", "/runs", "", "Accept", "application/json")); len(runs["runs"]) != 0 {
		t.Errorf("runs were started: %v", runs)
	}
}

// A run can be started from the JSON beside the form. JSON that isn't any stays as typed.
func TestRunFromJSON(t *testing.T) {
	p := newSite(t, "", nestedPhoton).newSession()
	values := url.Values{"title": {"Ignored"}, "beam:source": {"form", "json"}, "beam:json": {`{"title":"Shop","contact":{"email":"a@b.cd"}}`}}
	if res := p.postForm("/photons/nested/runs", values); res.StatusCode != http.StatusSeeOther {
		t.Errorf("status %d: %s", res.StatusCode, readText(t, res))
	}
	for text, want := range map[string]string{
		"{\"title\": \"x\",\r\n\"contact\": }": "line 2",
		`{"title":"Shop","contact":{}}`:        "Enter an email",
		"":                                     "Enter a title",
		"[1]":                                  "must be an object",
	} {
		values.Set("beam:json", text)
		res := p.postForm("/photons/nested/runs", values)
		page := readText(t, res)
		if res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%q: status %d", text, res.StatusCode)
		}
		first, _, _ := strings.Cut(text, "\"")
		expectContains(t, page, want, first)
	}
}

// BenchmarkLargeForm measures a photon's page with 1,000 fields. The target is less than
// 100 ms.
func BenchmarkLargeForm(b *testing.B) {
	var properties []string
	for i := range 1000 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string","title":"Field %d","description":"What it is for"}`, i, i))
	}
	s, err := generators.ParseSchema(json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`))
	if err != nil {
		b.Fatal(err)
	}
	large := generators.FromSchema("large", s, nil, func(_ context.Context, in json.RawMessage, _ generators.Yield) (json.RawMessage, error) {
		return in, nil
	}, nil)
	p := newSite(b, "", large).newSession()
	for b.Loop() {
		if page := readText(b, p.request("GET", "/photons/large", "", "Accept", "text/html")); !strings.Contains(page, "in-999") {
			b.Fatal("a field is missing")
		}
	}
}
