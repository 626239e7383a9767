package passthrough_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam"
)

// wireMessages are a run's messages, as its page has them.
type wireMessages struct {
	Source            string
	Recorded, Dropped int
	Messages          []struct {
		Side, Peer, Direction, Kind, Method, ID, Outcome string
		Size                                             int
		Cut                                              bool
		Message                                          json.RawMessage
	}
}

// A viewer is an operator who looks at a gateway's pages.
type viewer struct {
	url     string
	browser *http.Client
}

func (g gateway) viewer(t testing.TB) viewer { return viewer{g.url, signIn(t, g.SignInURL())} }

// get returns what a page has, as JSON.
func (g viewer) get(t testing.TB, path string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	res, err := g.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", path, res.Status, raw)
	}
	return raw
}

// lastRun returns the path of the run that was started last.
func (g viewer) lastRun(t testing.TB) string {
	t.Helper()
	var list struct{ Runs []struct{ ID string } }
	if err := json.Unmarshal(g.get(t, "/runs"), &list); err != nil || len(list.Runs) == 0 {
		t.Fatalf("there is no run: %v", err)
	}
	return "/runs/" + list.Runs[0].ID
}

func (g viewer) messages(t testing.TB, run, query string) (m wireMessages) {
	t.Helper()
	if err := json.Unmarshal(g.get(t, run+"/messages"+query), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// outline tells the messages of one side, one a line.
func (m *wireMessages) outline(side string) string {
	var lines []string
	for _, one := range m.Messages {
		if one.Side == side {
			lines = append(lines, strings.TrimSpace(strings.Join([]string{one.Direction, one.Kind, one.Method, one.Outcome}, " ")))
		}
	}
	return strings.Join(lines, "\n")
}

// The messages of a call as they go: with a client or a server that has sessions, and with
// one that has none.
const (
	withSessions = "in request tools/call\nout request elicitation/create\nin response elicitation/create accept\nout response tools/call completed"
	inRounds     = "in request tools/call\nout response tools/call input required\nin request tools/call\nout response tools/call completed"
)

// flip returns an outline as the other end has it.
func flip(outline string) string {
	return strings.NewReplacer("in re", "out re", "out re", "in re").Replace(outline)
}

// The messages of a run are shown as they went, on both sides of the gateway, also after a
// restart.
func TestMessagesAsTheyWent(t *testing.T) {
	outlines := map[string]string{v20251125: withSessions, v20260728: inRounds}
	for up, wantUp := range outlines {
		config := beam.Config{Data: t.TempDir(), Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, up)})}}
		g := newGateway(t, config)
		v := g.viewer(t)
		runs := map[string]string{}
		for down, wantDown := range outlines {
			s := g.connect(t, clientOptions{version: down, forms: true}, &person{answer: agree})
			if _, text := call(t, s, "test__ask_text", nil); !strings.Contains(text, "Ada") {
				t.Fatal(text)
			}
			run := v.lastRun(t)
			m := v.messages(t, run, "")
			if got := m.outline("client"); got != wantDown {
				t.Errorf("%s to %s: the client's messages are\n%s", up, down, got)
			}
			if got := m.outline("upstream"); got != flip(wantUp) {
				t.Errorf("%s to %s: the upstream's messages are\n%s", up, down, got)
			}
			for _, one := range m.Messages {
				if one.Peer != map[string]string{"client": "official", "upstream": "test"}[one.Side] || one.Size != len(bytes.ReplaceAll(one.Message, []byte(`\u003e`), []byte(">"))) { // the list escapes HTML
					t.Errorf("%s has %d bytes: %s", one.Peer, one.Size, one.Message)
				}
			}
			if n := len(v.messages(t, run, "?side=upstream&q=Ada").Messages); n == 0 || n == len(m.Messages) {
				t.Errorf("%d messages of the upstream have the answer", n)
			}
			if derived := v.messages(t, run, "?source=log"); derived.Source != "log" || derived.outline("") != withSessions {
				t.Errorf("derived from the log, the messages are\n%s", derived.outline(""))
			}
			exported := v.get(t, run+"/messages?format=jsonl")
			if n := strings.Count(string(exported), "\n"); n != len(m.Messages) {
				t.Errorf("%d lines are exported", n)
			}
			if raw := v.get(t, fmt.Sprintf("%s/messages/%d?source=wire", run, 1)); strings.TrimSpace(string(raw)) != string(m.Messages[0].Message) {
				t.Errorf("the first message is %s", raw)
			}
			runs[run] = m.outline("client") + m.outline("upstream")
		}
		_ = g.Shutdown(t.Context())
		again := newGateway(t, config).viewer(t)
		for run, want := range runs {
			m := again.messages(t, run, "")
			if m.outline("client")+m.outline("upstream") != want {
				t.Errorf("after a restart, the messages are\n%s\n%s", m.outline("client"), m.outline("upstream"))
			}
		}
	}
}

// What an upstream's policy keeps out of the log isn't in the messages either, on neither
// side.
func TestMessagesHonorWhatIsRecorded(t *testing.T) {
	server := serveTestServer(t, v20251125)
	record := func(what string) map[string]any {
		return map[string]any{"url": server["url"], "record": what}
	}
	g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"nothing": record("nothing"), "metadata": record("metadata")})}})
	s := g.connect(t, clientOptions{version: v20251125, forms: true}, &person{answer: agree})
	v := g.viewer(t)
	call(t, s, "nothing__ask_text", nil)
	if m := v.messages(t, v.lastRun(t), ""); m.Source != "log" || m.Recorded != 0 {
		t.Errorf("of an upstream that records nothing, there are %d messages", m.Recorded)
	}
	expectNoResult := func() {
		t.Helper()
		derived := v.messages(t, v.lastRun(t), "?source=log")
		if last := derived.Messages[len(derived.Messages)-1]; last.Method != "tools/call" || strings.Contains(string(last.Message), "Ada") || !strings.Contains(string(last.Message), "Not recorded") {
			t.Errorf("derived from the log, the result is %s", last.Message)
		}
	}
	expectNoResult()
	call(t, s, "metadata__ask_text", nil)
	expectNoResult()
	run := v.lastRun(t)
	m := v.messages(t, run, "")
	if m.outline("client") != withSessions || m.outline("upstream") != flip(withSessions) {
		t.Errorf("of an upstream that records metadata, the messages are\n%s\n%s", m.outline("client"), m.outline("upstream"))
	}
	if raw := string(v.get(t, run+"/messages?format=jsonl")); strings.Contains(raw, "Ada") || !strings.Contains(raw, "Not recorded: ") {
		t.Errorf("the messages tell\n%s", raw)
	}
}

// A run that began on a page has no client, but its upstream's messages are shown.
func TestMessagesOfAPagesRun(t *testing.T) {
	g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"test": serveTestServer(t, v20251125)})}})
	g.connect(t, clientOptions{version: v20251125}, &person{}) // the upstream is connected
	v := g.viewer(t)
	res, err := v.browser.Post(g.url+"/photons/test__log/runs", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	run := v.lastRun(t)
	stream, err := v.browser.Get(g.url + run + "/events")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(stream.Body) // until the run has ended
	stream.Body.Close()
	m := v.messages(t, run, "")
	if m.outline("client") != "" || !slices.Contains(strings.Split(m.outline("upstream"), "\n"), "in response tools/call completed") {
		t.Errorf("the messages are\n%s\n%s", m.outline("client"), m.outline("upstream"))
	}
}
