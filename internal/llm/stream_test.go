package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/llm/llmtest"
)

var hello = &ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Hello"))}, MaxTokens: 100}

// A received is what a stream yielded.
type received struct {
	texts, notices []string
	reply          *llm.Reply
	err            error
}

func receive(t testing.TB, ctx context.Context, m *llm.Model) (r received) {
	t.Helper()
	body, err := m.Encode(hello)
	if err != nil {
		t.Fatal(err)
	}
	for part, err := range m.Stream(ctx, body) {
		switch {
		case err != nil:
			r.err = err
		case part.Reply != nil:
			r.reply = part.Reply
		case part.Notice != "":
			r.notices = append(r.notices, part.Notice)
		default:
			r.texts = append(r.texts, part.Text)
		}
	}
	return r
}

func TestReply(t *testing.T) {
	for name, tt := range map[string]struct {
		handle func(*llmtest.Call)
		want   string // the result as JSON
		tokens [2]int
	}{
		"streamed": {func(x *llmtest.Call) { x.Say("Hel"); x.Reply("lo") },
			`{"role":"assistant","content":{"text":"Hello","type":"text"},"model":"served","stopReason":"endTurn"}`, [2]int{12, 3}},
		"out of tokens": {func(x *llmtest.Call) { x.Say("Hel"); x.Finish("length") },
			`{"role":"assistant","content":{"text":"Hel","type":"text"},"model":"served","stopReason":"maxTokens"}`, [2]int{12, 3}},
		"stop sequence": {func(x *llmtest.Call) {
			x.Event(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop","stop_reason":"END"}]}`)
		}, `{"role":"assistant","content":{"text":"a","type":"text"},"model":"m","stopReason":"stopSequence"}`, [2]int{0, 1}},
		"comments, carriage returns, no end mark": {func(x *llmtest.Call) {
			x.Raw(": hi\r\nevent: x\r\nid: 5\r\ndata: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\r\n\r\n")
		}, `{"role":"assistant","content":{"text":"a","type":"text"},"model":"m","stopReason":"endTurn"}`, [2]int{0, 1}},
		"last event without an empty line": {func(x *llmtest.Call) { x.Say("a"); x.Raw(`data: {"choices":[{"finish_reason":"stop"}]}` + "\n") },
			`{"role":"assistant","content":{"text":"a","type":"text"},"model":"served","stopReason":"endTurn"}`, [2]int{0, 1}},
		"tools": {func(x *llmtest.Call) {
			x.Event(`{"choices":[{"delta":{"content":"Let me look.","tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{\"a\""}}]}}]}`)
			x.Event(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"id":"c2","function":{"name":"now","arguments":""}}]}}]}`)
			x.Finish("tool_calls")
		}, `{"role":"assistant","content":[{"text":"Let me look.","type":"text"},{"id":"c1","input":{"a":1},"name":"look","type":"tool_use"},{"id":"c2","input":{},"name":"now","type":"tool_use"}],"model":"m","stopReason":"toolUse"}`, [2]int{12, 3}},
		"not streamed": {func(x *llmtest.Call) {
			x.JSON(200, `{"model":"served","choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`)
		}, `{"role":"assistant","content":{"text":"Hello","type":"text"},"model":"served","stopReason":"endTurn"}`, [2]int{1, 2}},
		"other choices and broken letters": {func(x *llmtest.Call) {
			x.Event(`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"a` + "\xff" + `"},"finish_reason":"odd"}]}`)
		}, `{"role":"assistant","content":{"text":"a` + "\ufffd" + `","type":"text"},"model":"m","stopReason":"odd"}`, [2]int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t, tt.handle)
			r := receive(t, t.Context(), s.Models(`"name":"m"`).All()[0])
			if r.err != nil {
				t.Fatal(r.err)
			}
			got, _ := json.Marshal(r.reply.Result)
			if string(got) != tt.want || r.reply.InputTokens != tt.tokens[0] || r.reply.OutputTokens != tt.tokens[1] {
				t.Errorf("the reply is %s, %+v", got, r.reply)
			}
			if text := strings.Join(r.texts, ""); text != r.reply.Result.Text() {
				t.Errorf("the parts are %q, the reply %q", text, r.reply.Result.Text())
			}
		})
	}
}

// Every failure is a clear error, and none has the key. Only a request that the model has
// not begun to work on is sent again.
func TestFailures(t *testing.T) {
	const key = "sk-secret-1"
	t.Setenv("BEAM_TEST_KEY", key)
	for name, tt := range map[string]struct {
		handle func(*llmtest.Call)
		want   string // part of the error; empty for a reply
		sent   int    // requests
	}{
		"rate limit, then a reply": {func(x *llmtest.Call) { refuseThenReply(x, 1, "Retry-After-Ms", "1") }, "", 2},
		"rate limit in seconds":    {func(x *llmtest.Call) { refuseThenReply(x, 1, "Retry-After", "0.01") }, "", 2},
		"rate limit, always":       {func(x *llmtest.Call) { x.Refuse(429, "slow down", "Retry-After-Ms", "1") }, "allows no more requests for now (status 429). It says: slow down", 3},
		"rate limit, for an hour":  {func(x *llmtest.Call) { x.Refuse(429, "later", "Retry-After", "3600") }, "It asks to wait for 1h0m0s", 1},
		"no money":                 {func(x *llmtest.Call) { x.JSON(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`) }, "It says: pay", 1},
		"a failing server, then a reply": {func(x *llmtest.Call) {
			if x.N == 1 {
				x.JSON(503, "<html>", "Retry-After-Ms", "1")
			} else {
				x.Reply("ok")
			}
		}, "", 2},
		"a refused key":      {func(x *llmtest.Call) { x.Refuse(401, "wrong key: "+key) }, "refused the key (status 401). It says: wrong key: ••••", 1},
		"no such model":      {func(x *llmtest.Call) { x.JSON(404, `{"error":"model not found"}`) }, `has no model "m"`, 1},
		"a bad request":      {func(x *llmtest.Call) { x.JSON(400, `{"detail":"too\nlong `+strings.Repeat("x", 5000)+`"}`) }, "refused the request (status 400). It says: too long xxx", 1},
		"a redirect":         {func(x *llmtest.Call) { x.JSON(307, "", "Location", "http://127.0.0.1:1/") }, "redirects to another address", 1},
		"a cut connection":   {func(x *llmtest.Call) { x.Cut() }, "closed the connection without a response", 1},
		"a cut stream":       {func(x *llmtest.Call) { x.Say("Hel"); x.Cut() }, "broke off", 1},
		"an early end":       {func(x *llmtest.Call) { x.Say("Hel") }, "it ended in the middle", 1},
		"a malformed event":  {func(x *llmtest.Call) { x.Say("Hel"); x.Event(`{"choices":`) }, "an event that is not valid", 1},
		"an error event":     {func(x *llmtest.Call) { x.Say("Hel"); x.Event(`{"error":{"message":"overloaded"}}`) }, "m reports: overloaded", 1},
		"an event too large": {func(x *llmtest.Call) { x.Raw("data: " + strings.Repeat("x", 2<<20)) }, "larger than 1 MiB", 1},
		"a reply too large": {func(x *llmtest.Call) {
			for range 50 {
				x.Say(strings.Repeat("x", 100<<10))
			}
		}, "larger than 4 MiB", 1},
		"an endless stream of nothing": {func(x *llmtest.Call) {
			for x.Request.Context().Err() == nil {
				x.Raw(": " + strings.Repeat("x", 500<<10) + "\n")
			}
		}, "m sent more than 64 MiB", 1},
		"nothing said":   {func(x *llmtest.Call) { x.Finish("stop") }, "without any content", 1},
		"no tokens left": {func(x *llmtest.Call) { x.Finish("length") }, "allow more tokens", 1},
		"broken arguments": {func(x *llmtest.Call) {
			x.Event(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"a","arguments":"{"}}]},"finish_reason":"tool_calls"}]}`)
		}, "tool call 1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t, func(x *llmtest.Call) {
				if got := x.Request.Header.Get("Authorization"); got != "Bearer "+key {
					t.Errorf("the request is authorized by %q", got)
				}
				tt.handle(x)
			})
			r := receive(t, t.Context(), s.Models(`"name":"m","keyEnv":"BEAM_TEST_KEY","retries":2`).All()[0])
			switch {
			case tt.want == "" && (r.err != nil || r.reply == nil):
				t.Errorf("it failed: %v", r.err)
			case tt.want != "" && (r.err == nil || !strings.Contains(r.err.Error(), tt.want) || strings.Contains(r.err.Error(), key) || len(r.err.Error()) > 2000):
				t.Errorf("the error is %v", r.err)
			}
			if n := len(s.Requests()); n != tt.sent || len(r.notices) != tt.sent-1 {
				t.Errorf("%d requests were sent, with the notices %q; want %d", n, r.notices, tt.sent)
			}
		})
	}
}

func refuseThenReply(x *llmtest.Call, n int, headers ...string) {
	if x.N <= n {
		x.Refuse(429, "slow down", headers...)
		return
	}
	x.Reply("ok")
}

func TestUnreachable(t *testing.T) {
	s := llmtest.New(t, nil)
	m := s.Models(`"name":"m","retries":0`).All()[0]
	s.Close()
	if r := receive(t, t.Context(), m); r.err == nil || !strings.Contains(r.err.Error(), "can't be reached") {
		t.Errorf("the error is %v", r.err)
	}
}

// Leaving the loop, and the end of the context, end the request at the server.
func TestCancel(t *testing.T) {
	gone := make(chan struct{}, 2)
	s := llmtest.New(t, func(x *llmtest.Call) { x.Say("Hel"); x.WaitUntilGone(); gone <- struct{}{} })
	m := s.Models(`"name":"m"`).All()[0]
	body, _ := m.Encode(hello)
	for range m.Stream(t.Context(), body) {
		break
	}
	<-gone
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for part, err := range m.Stream(ctx, body) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		if part.Text != "" {
			cancel()
		}
	}
	<-gone
}

// A key is never in a file of models, and others can't read the file that it is in.
func TestLoad(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret, open, empty := write("secret", " k3y \n", 0o600), write("open", "k3y", 0o644), write("empty", "", 0o600)
	t.Setenv("BEAM_TEST_KEY", "k3y")
	const at = `"name":"a","endpoint":"http://127.0.0.1:1/v1"`
	for members, want := range map[string]string{
		at: "", at + `,"keyFile":"` + secret + `"`: "", at + `,"keyEnv":"BEAM_TEST_KEY"`: "",
		at + `,"keyFile":"` + open + `"`:   "run chmod 600",
		at + `,"keyFile":"` + empty + `"`:  "is empty",
		at + `,"keyFile":"/nowhere"`:       "reading keyFile",
		at + `,"keyEnv":"BEAM_TEST_NONE"`:  "BEAM_TEST_NONE, which keyEnv names, is empty",
		at + `,"keyEnv":"A","keyFile":"B"`: "exclude each other",
		at + `,"key":"k3y"`:                "a key doesn't belong in this file",
		at + `,"api_key":"k3y"`:            "instead of \"api_key\"",
		at + `,"colour":"red"`:             `line 1: a model has no member "colour"; it has accepts, cost, `,
		at + `,"modle":"x"`:                `a model has no member "modle"; is it model?`,
		at + `,"Cost":1`:                   `a model has no member "Cost"; is it cost?`,
		at + `,"cost":1,"cost":1`:          `"cost" is there twice`,
		at + `,"cost":"low"`:               "cost must be a number from 0 to 1",
		at + `,"hints":"x"`:                "hints must be a list of texts",
		at + `,"model":null`:               "model must be a text",
		at + `,"maxTokens":1.5`:            "maxTokens must be a whole number",
		at + `,"plainHTTP":1`:              "plainHTTP must be true or false",
		at + `,"hints":["x",],/* kept */`:  "",
		`"name":"a","endpoint":"http://127.0.0.1:1/v1/chat/completions/"`: "endpoint must be the base URL, http://127.0.0.1:1/v1, without /chat/completions",
		`"name":"a"`:                              "endpoint must be the base URL",
		`"name":"a","endpoint":"ftp://x"`:         "endpoint must be the base URL",
		`"name":"a","endpoint":"http://u:p@x/v1"`: "endpoint must be the base URL",
		`"name":"a","endpoint":"http://x.example/v1","keyEnv":"BEAM_TEST_KEY"`:                  "without encryption",
		`"name":"a","endpoint":"http://x.example/v1","keyEnv":"BEAM_TEST_KEY","plainHTTP":true`: "",
		`"endpoint":"http://x"`:              "model 1 has no name",
		`"name":"<b>","endpoint":"http://x"`: "a name has up to 60",
		at + `,"cost":2`:                     "cost is a score from 0 to 1",
		at + `,"accepts":["video"]`:          `accepts has "video"`,
		at + `,"omit":["model"]`:             `omit has "model"`,
		at + `,"timeout":5`:                  `timeout must be a time such as "90s"`,
		at + `,"timeout":"-1s"`:              `timeout must be a time such as "90s"`,
		at + `,"retries":99`:                 "retries must be 0 to 10",
		at + `,"limitField":"x"`:             "limitField must be",
		at + `},{` + at:                      `two models have the name "a"`,
	} {
		_, err := llm.Load(write("models.json", `{"models":[{`+members+`}]}`, 0o644))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "k3y")) {
			t.Errorf("%s: %v, want %q", members, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"models":[]}`:                "there must be 1 to 100 models, as in {",
		`{}`:                           "there must be 1 to 100 models",
		`[]`:                           "line 1: the file must be an object such as {",
		` `:                            "it is empty; it must be an object such as {",
		`{"models":[null]}`:            "model 1 must be an object, as in {",
		`{"models":{}}`:                `"models" must be a list, as in {`,
		"{\n\"model\": []}":            `line 2: there is no member "model"; the file has only "models"`,
		"{\"models\": [\n{\"name\"}]}": "it is not JSON: line 2, column 8: ",
		"{\"models\": [\n{" + at + "},\n{\"name\": \"b\"}]}":          "line 3: b: endpoint must be",
		"{\"models\": [\n{" + at + ",\n\"speed\": true}]}":            "line 3: speed must be a number",
		"{\"models\": [{" + at + "}]} x":                              "it is not JSON: line 1, column ",
		"{\"models\": [{" + at + "}]}" + strings.Repeat(" ", 1<<20+1): "it is larger than",
	} {
		_, err := llm.Load(write("models.json", text, 0o644))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), " json:") {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
	if _, err := llm.Load(filepath.Join(folder, "none")); err == nil || !strings.HasSuffix(err.Error(), "none: it can't be read: no such file or directory") {
		t.Errorf("a file that doesn't exist: %v", err)
	}
	if _, err := llm.Load(folder); err == nil || !strings.Contains(err.Error(), "it can't be read: is a directory") {
		t.Errorf("a folder: %v", err)
	}
}
