package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/llm/llmtest"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/identity"
	"github.com/photon-beam/beam/web/internal/ui"
)

// newModelSite returns a site with two models on one server, and the photon sampler.
func newModelSite(t *testing.T, handle func(*llmtest.Call)) (*site, *llmtest.Server) {
	t.Helper()
	server := llmtest.New(t, handle)
	registry, err := registry.NewRegistry(append(shipped.Photons(), nonFormPhotons...)...)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Blobs: blobs, Ephemeral: true, Policy: asking.Policy{OpenPerRun: 10}})
	models := sampling.New(sampling.Config{Engine: e, State: smallstate.NewMemory(), Models: server.Models(`"name":"small","model":"small-1"`, `"name":"large"`)})
	pages, err := web.New(web.Config{Engine: e, Photons: registry, Keys: identity.NewKeys(), Sampling: models})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(pages), t: t, web: pages, engine: e}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		e.Close(ctx)
		models.Close()
		pages.Close()
		s.Server.Close()
		blobs.Close()
	})
	return s, server
}

func replyOK(x *llmtest.Call) { x.Reply("Short.") }

var formHeader = []string{"Content-Type", "application/x-www-form-urlencoded"}

func (p *browserSession) postSampling(askID, action string, form url.Values, headers ...string) *http.Response {
	p.t.Helper()
	return p.request("POST", "/asks/"+askID+"/sampling?action="+action, form.Encode(), append(headers, formHeader...)...)
}

var (
	bodyOnPage  = regexp.MustCompile(`(?s)<pre class="raw body" tabindex="0">(.*?)</pre>`)
	fieldOnPage = regexp.MustCompile(`(?s)<textarea[^>]* name="([^"]+)"[^>]*>\n(.*?)</textarea>`)
)

// The bytes that a page shows are those that leave, without an edit, and the fields of
// the form have exactly the texts of the messages.
func TestThePageShowsWhatIsSent(t *testing.T) {
	s, server := newModelSite(t, replyOK)
	p := s.newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	if to := p.request("GET", "/asks/"+q.ID, "", "Accept", "text/html"); to.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.Header.Get("Location"), run.URL+"#ask-") {
		t.Errorf("the question's own page leads to %q", to.Header.Get("Location"))
	}
	page := readText(t, p.request("GET", run.URL, "", "Accept", "text/html"))
	shown := bodyOnPage.FindStringSubmatch(page)
	form := url.Values{"call": {"1"}, "model": {"small"}, "limit": {"50"}}
	for _, m := range fieldOnPage.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], strings.ReplaceAll(html.UnescapeString(m[2]), "\n", "\r\n"))
	}
	if shown == nil || form.Get("block-0-0") != "Sum <up>" || !strings.Contains(page, "about ") {
		t.Fatalf("the page is %s", page)
	}
	if len(server.Requests()) != 0 {
		t.Fatal("something was sent before the approval")
	}
	expectStatus(t, p.postSampling(q.ID, "approve", form, "Accept", "text/html"), http.StatusSeeOther)
	if got := p.runResult(run); got != "served: Short." {
		t.Errorf("the run got %v", got)
	}
	sent := server.Requests()
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(html.UnescapeString(shown[1]))); err != nil || len(sent) != 1 || string(sent[0]) != want.String() {
		t.Errorf("it sent %s\nand showed %s (%v)", sent, &want, err)
	}
	page = readText(t, p.request("GET", run.URL, "", "Accept", "text/html"))
	for _, want := range []string{"small at 127.0.0.1", "12 tokens in, 3 out", ">Short.<", "by the model"} {
		if !strings.Contains(page, want) {
			t.Errorf("the timeline lacks %q", want)
		}
	}
}

// What a person changes in the form is what leaves.
func TestAnEditedFormIsSent(t *testing.T) {
	s, server := newModelSite(t, replyOK)
	p := s.newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	expectStatus(t, p.postSampling(q.ID, "approve", url.Values{"model": {"large"}, "limit": {"9"}, "system": {"Be\r\nkind."}, "block-0-0": {"Sum\r\ndown"}}), http.StatusAccepted)
	p.runResult(run)
	if sent := string(server.Requests()[0]); sent != `{"model":"large","messages":[{"role":"system","content":"Be\nkind."},{"role":"user","content":"Sum\ndown"}],"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}}` {
		t.Errorf("it sent %s", sent)
	}
	if page := readText(t, p.request("GET", run.URL, "", "Accept", "text/html")); !strings.Contains(page, "The request as it was sent") || !strings.Contains(page, "Sum\ndown") {
		t.Error("the timeline doesn't show the request as it was sent")
	}
}

func TestInvalidApprovals(t *testing.T) {
	s, server := newModelSite(t, replyOK)
	p := s.newSession()
	_, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	patch := []string{"Datastar-Request", "true"}
	for want, form := range map[string]url.Values{
		"Longest reply must be a whole number": {"limit": {"many"}}, "must be one of the configured models": {"model": {"none"}}, "must be 1 to 1000": {"block-0-0": {" "}},
		"Number of requests must say how many": {"scope": {"tool"}}, "must be tool: the tool is not": {"scope": {"server"}, "requests": {"1"}}, "somebody else was faster": {"call": {"7"}},
	} {
		res := p.postSampling(q.ID, "approve", form, patch...)
		if text := html.UnescapeString(readText(t, res)); res.StatusCode != http.StatusOK || !strings.Contains(text, want) || !strings.Contains(text, `name="model"`) {
			t.Errorf("%q: %s %s", want, res.Status, text)
		}
	}
	res := p.postSampling(q.ID, "approve", url.Values{"limit": {"x"}, "block-0-0": {"Mine"}}, "Accept", "text/html")
	if text := readText(t, res); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, "\nMine</textarea>") {
		t.Errorf("without script: %s %s", res.Status, text)
	}
	for body, status := range map[string]int{
		`{"action":"approve","model":"none"}`: 422, `{"action":"jump"}`: 400, `{"action":"approve","colour":1}`: 400, `[`: 400, `{"action":"stop"}`: 409, `{"action":"return"}`: 409, `{"action":"approve","call":3}`: 409,
	} {
		expectStatus(t, p.requestJSON("POST", "/asks/"+q.ID+"/sampling", body), status)
	}
	expectStatus(t, p.request("POST", "/asks/"+q.ID+"/sampling", "x", "Content-Type", "text/plain"), http.StatusUnsupportedMediaType)
	expectStatus(t, s.newSession().requestJSON("POST", "/asks/"+q.ID+"/sampling", `{"action":"approve"}`), http.StatusForbidden)
	_, other := p.startAndReadRequest("rooter", "roots/list")
	expectStatus(t, p.requestJSON("POST", "/asks/"+other.ID+"/sampling", `{"action":"approve"}`), http.StatusConflict)
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	// An answer in the model's place that is invalid keeps the approval on the page.
	res = p.request("POST", "/mcp/request?ask="+q.ID+"&action=accept", "text=+", append(formHeader, patch...)...)
	if text := readText(t, res); res.StatusCode != http.StatusOK || !strings.Contains(text, `name="model"`) {
		t.Errorf("an invalid answer: %s %s", res.Status, text)
	}
	expectStatus(t, p.request("POST", "/mcp/request?ask="+q.ID+"&action=decline", "", formHeader...), http.StatusAccepted)
	expectStatus(t, p.requestJSON("POST", "/asks/"+q.ID+"/sampling", `{"action":"approve"}`), http.StatusConflict)
	if text := readText(t, p.postSampling(q.ID, "approve", nil, patch...)); !strings.Contains(text, "declined") {
		t.Errorf("once it is settled, the page gets %s", text)
	}
}

// A program approves, sees what has arrived, and returns or stops the reply.
func TestSamplingOverHTTP(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	s, _ := newModelSite(t, func(x *llmtest.Call) {
		x.Say("Sho")
		arrived <- struct{}{}
		select {
		case <-release:
			x.Reply("rt.")
		case <-x.Request.Context().Done():
		}
	})
	p := s.newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	type described struct {
		Sampling struct {
			Phase, Text, Model, Body string
			Call, EstimatedTokens    int
			Models                   []struct{ Name string }
			Result                   *ask.SampleResult
		}
	}
	read := func() described { return decodeJSON[described](t, p.requestJSON("GET", "/asks/"+q.ID, "")) }
	if d := read().Sampling; d.Phase != "waiting" || len(d.Models) != 2 || d.EstimatedTokens == 0 || !strings.Contains(d.Body, `"content":"Sum <up>"`) {
		t.Errorf("before the approval, it is %+v", d)
	}
	post := func(body string, status int) {
		t.Helper()
		expectStatus(t, p.requestJSON("POST", "/asks/"+q.ID+"/sampling", body), status)
	}
	post(`{"action":"approve","review":true,"model":"small"}`, http.StatusAccepted)
	<-arrived
	post(`{"action":"approve"}`, http.StatusConflict)
	for read().Sampling.Text == "" { // the server has sent it, and it is on its way
	}
	post(`{"action":"stop"}`, http.StatusAccepted)
	if d := read().Sampling; d.Phase != "stopped" || d.Text != "Sho" || d.Call != 1 || d.Model != "small" {
		t.Errorf("stopped, it is %+v", d)
	}
	if page := readText(t, p.request("GET", run.URL, "", "Accept", "text/html")); !strings.Contains(page, "The call was stopped.") || !strings.Contains(page, "Approve</button>") {
		t.Errorf("the page is %s", page)
	}
	post(`{"action":"approve","review":true,"call":2}`, http.StatusAccepted)
	<-arrived
	page := ""
	for !strings.Contains(page, `aria-label="The reply so far">Sho`) { // a reload in the middle shows what has arrived
		page = readText(t, p.request("GET", run.URL, "", "Accept", "text/html"))
	}
	close(release)
	for read().Sampling.Phase != "replied" {
	}
	if d := read().Sampling; d.Result == nil || d.Result.Text() != "Short." {
		t.Errorf("replied, it is %+v", d)
	}
	post(`{"action":"return","text":"Shorter."}`, http.StatusAccepted)
	if got := p.runResult(run); got != "served: Shorter." {
		t.Errorf("the run got %v", got)
	}
}

func TestModelsPage(t *testing.T) {
	s, _ := newModelSite(t, replyOK)
	p := s.newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	expectStatus(t, p.postSampling(q.ID, "approve", url.Values{"scope": {"tool"}, "requests": {"3"}}), http.StatusAccepted)
	p.runResult(run)
	again, _ := p.startAndReadRequest("sampler", "sampling/createMessage")
	if got := p.runResult(again); got != "served: Short." {
		t.Errorf("by the standing approval, the run got %v", got)
	}
	if page := readText(t, p.request("GET", again.URL, "", "Accept", "text/html")); !strings.Contains(page, "a standing approval for the tool sampler; 2 requests left") {
		t.Error("the timeline doesn't say that a standing approval was used")
	}
	type models struct {
		Models   []sampling.ModelDescription
		Usage    []sampling.Usage
		Standing []sampling.Standing
	}
	m := decodeJSON[models](t, p.requestJSON("GET", "/models", ""))
	if len(m.Models) != 2 || len(m.Usage) != 1 || m.Usage[0].Calls != 2 || len(m.Standing) != 1 || *m.Standing[0].Requests != 2 {
		t.Errorf("it is %+v", m)
	}
	page := readText(t, p.request("GET", "/models", "", "Accept", "text/html"))
	if !strings.Contains(page, "The tool sampler: 2 requests left for the model ") || !strings.Contains(page, "small-1") {
		t.Errorf("the page is %s", page)
	}
	revoke := "/models/standing/" + strconv.Itoa(m.Standing[0].ID) + "/revoke"
	expectStatus(t, s.newSession().request("POST", revoke, ""), http.StatusNotFound)
	expectStatus(t, p.request("POST", revoke, "", "Accept", "text/html"), http.StatusSeeOther)
	expectStatus(t, p.request("POST", revoke, ""), http.StatusNotFound)
	expectStatus(t, p.request("POST", "/models/standing/x/revoke", ""), http.StatusNotFound)
}

// Without configured models, a person plays the model, and there is nothing else.
func TestNoModels(t *testing.T) {
	p := newSite(t, "", nonFormPhotons...).newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	expectStatus(t, p.request("GET", "/models", ""), http.StatusNotFound)
	expectStatus(t, p.requestJSON("POST", "/asks/"+q.ID+"/sampling", `{"action":"approve"}`), http.StatusNotFound)
	if page := readText(t, p.request("GET", run.URL, "", "Accept", "text/html")); strings.Contains(page, "Approve") {
		t.Error("the page offers an approval")
	}
}

// After a failure, the page and the JSON of the question have the version approved last, and
// a form that is posted as it is sends that. A page that shows the older version is told.
func TestARedactionOutlivesAFailure(t *testing.T) {
	s, server := newModelSite(t, func(x *llmtest.Call) {
		if x.N == 1 {
			x.Refuse(401, "who?")
			return
		}
		x.Reply("ok")
	})
	p := s.newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	readPage := func() string { return readText(t, p.request("GET", run.URL, "", "Accept", "text/html")) }
	older := formOf(readPage())
	edited := maps.Clone(older)
	edited.Set("block-0-0", "Sum it")
	edited.Set("model", "large")
	expectStatus(t, p.postSampling(q.ID, "approve", edited), http.StatusAccepted)
	page := readPage()
	for ; !strings.Contains(page, "who?"); page = readPage() {
	}
	shown := html.UnescapeString(page)
	form := formOf(page)
	if form.Get("block-0-0") != "Sum it" || form.Get("model") != "large" || form.Get("call") != "2" || !strings.Contains(shown, "<b>Changed.</b>") {
		t.Errorf("the form is %v on %s", form, shown)
	}
	if body := bodyOnPage.FindStringSubmatch(page); body == nil || strings.Contains(body[1], "Sum &lt;up&gt;") || !strings.Contains(body[1], "Sum it") {
		t.Errorf("the page shows that it sends %s", body)
	}
	type described struct {
		Sampling struct {
			Changes, Choice, ChangedBy, Body string
			Request                          *ask.SampleRequest
		}
	}
	if d := decodeJSON[described](t, p.requestJSON("GET", "/asks/"+q.ID, "")).Sampling; !strings.Contains(d.Changes, "-Sum <up>\n+Sum it\n") || d.Choice != "large" || d.Request.Messages[0].Text() != "Sum it" || strings.Contains(d.Body, "up") {
		t.Errorf("the JSON is %+v", d)
	}
	if text := readText(t, p.postSampling(q.ID, "approve", older, "Accept", "text/html")); !strings.Contains(text, "somebody else was faster") || formOf(text).Get("block-0-0") != "Sum it" {
		t.Errorf("a page with the older version gets %s", text)
	}
	expectStatus(t, p.postSampling(q.ID, "approve", form), http.StatusAccepted)
	p.runResult(run)
	if sent := server.Requests(); len(sent) != 2 || string(sent[0]) != string(sent[1]) || strings.Contains(string(sent[1]), "up") {
		t.Errorf("it sent %s", sent)
	}
}

var (
	inputOnPage  = regexp.MustCompile(`<input[^>]* name="(call|limit|temperature)"[^>]* value="([^"]*)"`)
	optionOnPage = regexp.MustCompile(`<option value="([^"]*)" selected`)
)

// formOf returns the form of an approval as a browser without script posts it.
func formOf(page string) url.Values {
	form := url.Values{}
	for _, m := range fieldOnPage.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], strings.ReplaceAll(html.UnescapeString(m[2]), "\n", "\r\n"))
	}
	for _, m := range inputOnPage.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	if m := optionOnPage.FindStringSubmatch(page); m != nil {
		form.Set("model", m[1])
	}
	delete(form, "text") // of another form
	return form
}

// A preview has the bytes that an approval of the same form then sends, and what differs from
// what was asked; it sends nothing.
func TestAPreviewIsWhatIsSent(t *testing.T) {
	s, server := newModelSite(t, replyOK)
	p := s.newSession()
	run, q := p.startAndReadRequest("sampler", "sampling/createMessage")
	form := url.Values{"call": {"1"}, "model": {"large"}, "limit": {"9"}, "block-0-0": {"Sum <b>"}, "temperature": {"0.5"}, "stop": {"END\r\n\\n\\n\"\\\\"}}
	want := `{"model":"large","messages":[{"role":"user","content":"Sum <b>"}],"max_tokens":9,"temperature":0.5,"stop":["END","\n\n\"\\"],"stream":true,"stream_options":{"include_usage":true}}`
	isShown := func(what, page string) {
		t.Helper()
		var body bytes.Buffer
		if shown := bodyOnPage.FindStringSubmatch(page); shown == nil || json.Compact(&body, []byte(html.UnescapeString(shown[1]))) != nil || body.String() != want {
			t.Errorf("%s: it shows %s, not %s", what, shown, want)
		}
	}
	res := p.postSampling(q.ID, "preview", form, "Datastar-Request", "true")
	if selector := res.Header.Get("Datastar-Selector"); selector != "#"+ui.PreviewID(q.ID, 1) || res.Header.Get("Datastar-Mode") != "inner" {
		t.Errorf("it is patched into %s", selector)
	}
	isShown("a patch", readText(t, res))
	page := readText(t, p.postSampling(q.ID, "preview", form, "Accept", "text/html"))
	isShown("without script", page)
	if again := formOf(page); again.Get("block-0-0") != "Sum <b>" || again.Get("temperature") != "0.5" || again.Get("limit") != "9" || again.Get("model") != "large" {
		t.Errorf("without script, the form has %v", again)
	}
	version := decodeJSON[sampling.Version](t, p.requestJSON("POST", "/asks/"+q.ID+"/sampling", `{"action":"preview","omit":["systemPrompt"],"maxTokens":9}`))
	if strings.Contains(version.Body, "system") || !strings.Contains(version.Changes, "+Longest reply: 9 tokens") {
		t.Errorf("the JSON is %+v", version)
	}
	if text := readText(t, p.postSampling(q.ID, "preview", url.Values{"call": {"1"}, "temperature": {"warm"}}, "Datastar-Request", "true")); !strings.Contains(text, "Temperature must be a number") {
		t.Errorf("a mistake is shown as %s", text)
	}
	expectStatus(t, p.requestJSON("POST", "/asks/"+q.ID+"/sampling", `{"action":"preview","omit":["maxTokens"]}`), http.StatusUnprocessableEntity)
	expectStatus(t, s.newSession().requestJSON("POST", "/asks/"+q.ID+"/sampling", `{"action":"preview"}`), http.StatusForbidden)
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	expectStatus(t, p.postSampling(q.ID, "approve", form), http.StatusAccepted)
	p.runResult(run)
	expectStatus(t, p.postSampling(q.ID, "preview", form, "Datastar-Request", "true"), http.StatusNoContent) // the form was posted in the meantime
	if sent := server.Requests(); len(sent) != 1 || string(sent[0]) != want {
		t.Errorf("it sent %s", sent)
	}
}
