package cluster_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// An mcpClient sends each request to another replica than the one before.
type mcpClient struct {
	t        *testing.T
	replicas []string // their addresses
	next     int
	version  string
	session  string
	lastID   int
}

// A message is one of JSON-RPC, and the event that it came in.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
	event  string // its id
}

// A stream is the response to a request.
type stream struct {
	t        *testing.T
	at       string
	response *http.Response
	events   *bufio.Reader // nil if the response is one message
	cut      context.CancelFunc
	last     string // the id of the last event
}

func (c *mcpClient) do(method string, body any, header ...string) *stream {
	c.t.Helper()
	var raw []byte
	if body != nil {
		raw, _ = json.Marshal(body)
	}
	ctx, cut := context.WithTimeout(c.t.Context(), 20*time.Second)
	at := c.replicas[c.next%len(c.replicas)]
	c.next++
	r, err := http.NewRequestWithContext(ctx, method, "http://"+at+"/mcp", bytes.NewReader(raw))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if method == http.MethodPost {
		r.Header.Add("Accept", "application/json")
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("MCP-Protocol-Version", c.version)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	s := &stream{t: c.t, at: at, response: response, cut: cut}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		s.events = bufio.NewReader(response.Body)
	}
	c.t.Cleanup(s.close)
	return s
}

func (s *stream) close() {
	s.cut()
	s.response.Body.Close()
}

// read returns the next message. It reports false at the end.
func (s *stream) read() (m message, ok bool) {
	s.t.Helper()
	if s.events == nil {
		raw, err := io.ReadAll(s.response.Body)
		if err == nil && len(raw) > 0 {
			err = json.Unmarshal(raw, &m)
		}
		if err != nil {
			s.t.Fatalf("%s at %s: %s: %v", s.response.Status, s.at, raw, err)
		}
		return m, len(raw) > 0
	}
	var data string
	for {
		line, err := s.events.ReadString('\n')
		if err == io.EOF {
			return m, false
		}
		if err != nil {
			s.t.Fatalf("the stream of %s: %v", s.at, err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "id":
			m.event, s.last = value, value
		case name == "data":
			data += value
		case line == "\n" && data != "":
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				s.t.Fatalf("%s: %v", data, err)
			}
			return m, true
		}
	}
}

// await returns the next message with a method, or the response if that is empty.
func (s *stream) await(method string) message {
	s.t.Helper()
	for {
		m, ok := s.read()
		if !ok {
			s.t.Fatalf("the stream of %s ends (%s) without %q", s.at, s.response.Status, method)
		}
		if m.Method == method {
			return m
		}
	}
}

func (c *mcpClient) request(method string, params any, header ...string) *stream {
	c.t.Helper()
	c.lastID++
	return c.do(http.MethodPost, map[string]any{"jsonrpc": "2.0", "id": c.lastID, "method": method, "params": params}, header...)
}

// result returns the result of a request.
func (c *mcpClient) result(method string, params any) string {
	c.t.Helper()
	m := c.request(method, params).await("")
	if m.Error != nil {
		c.t.Fatalf("%s: %s", method, m.Error)
	}
	return string(m.Result)
}

func (c *mcpClient) send(body map[string]any) {
	c.t.Helper()
	body["jsonrpc"] = "2.0"
	s := c.do(http.MethodPost, body)
	if s.close(); s.response.StatusCode != http.StatusAccepted {
		c.t.Fatalf("%v at %s: %s", body, s.at, s.response.Status)
	}
}

func (c *mcpClient) respond(request message, guests int) {
	c.t.Helper()
	c.send(map[string]any{"id": request.ID, "result": map[string]any{"action": "accept", "content": map[string]any{"partySize": guests}}})
}

func (c *mcpClient) initialize() {
	c.t.Helper()
	s := c.request("initialize", map[string]any{
		"protocolVersion": c.version, "clientInfo": map[string]any{"name": "test", "version": "1"},
		"capabilities": map[string]any{"elicitation": map[string]any{}},
	})
	if m := s.await(""); !strings.Contains(string(m.Result), c.version) {
		c.t.Fatalf("initialize: %s%s", m.Result, m.Error)
	}
	c.session = s.response.Header.Get("Mcp-Session-Id")
	c.send(map[string]any{"method": "notifications/initialized"})
}

func (c *mcpClient) book(more ...any) *stream {
	c.t.Helper()
	return c.request("tools/call", withMembers(map[string]any{"name": "book_dinner", "arguments": map[string]any{"date": "2026-11-22", "time": "19:00"}}, more...))
}

func withMembers(m map[string]any, more ...any) map[string]any {
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

func (c *mcpClient) resume(after string) *stream {
	c.t.Helper()
	s := c.do(http.MethodGet, nil, "Last-Event-ID", after)
	if s.events == nil {
		m, _ := s.read()
		c.t.Fatalf("resuming at %s: %s %s", s.at, s.response.Status, m.Error)
	}
	return s
}

func expect(t *testing.T, m message, text string) {
	t.Helper()
	if !strings.Contains(string(m.Result), text) {
		t.Errorf("the result is %s%s, without %q", m.Result, m.Error, text)
	}
}

// runID returns the run of a request that asks.
func runID(m message) string {
	id, _, _ := strings.Cut(strings.Trim(string(m.ID), `"`), ".")
	return id
}

func (c *mcpClient) expectState(run, state string) {
	c.t.Helper()
	client{c.t, c.replicas[0]}.await(run, "want "+state, func(i info) bool { return i.State == state })
}

// A client of each revision sends every request to another replica, and notices nothing.
func TestMCPOnAnyReplica(t *testing.T) {
	cl := startCluster(t, cluster.Options{Program: beam})
	var replicas []string
	for _, r := range cl.Replicas {
		replicas = append(replicas, r.Address())
	}
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		for name, test := range map[string]func(*testing.T, *mcpClient){
			"answers": testAnswers, "invalid answer": testInvalidAnswer, "cancellation": testCancellation, "broken stream": testBrokenStream,
			"broken stream of a question": testQuestionOnBrokenStream, "deletion": testDeletion, "log level": testLogLevel, "resumed run": testResumedRun,
		} {
			if version == "2025-03-26" && name != "broken stream" && name != "deletion" {
				continue // it has no elicitation
			}
			t.Run(version+" "+name, func(t *testing.T) { runMCP(t, replicas, version, test) })
		}
	}
	for name, test := range map[string]func(*testing.T, *mcpClient){
		"task": testTask, "canceled task": testCanceledTask, "task's status": testTaskStatus,
	} {
		t.Run("2025-11-25 "+name, func(t *testing.T) { runMCP(t, replicas, "2025-11-25", test) })
	}
	t.Run("2026-07-28", func(t *testing.T) { testRoundTrips(t, &mcpClient{t: t, replicas: replicas}) })
	t.Run("killed replica", func(t *testing.T) {
		runMCP(t, replicas, "2025-11-25", func(t *testing.T, c *mcpClient) { testKilledReplica(t, c, cl) })
	})
}

func runMCP(t *testing.T, replicas []string, version string, test func(*testing.T, *mcpClient)) {
	c := &mcpClient{t: t, replicas: replicas, version: version}
	c.initialize()
	if tools := c.result("tools/list", nil); !strings.Contains(tools, "book_dinner") {
		t.Fatalf("the tools are %s", tools)
	}
	test(t, c)
}

func testAnswers(t *testing.T, c *mcpClient) {
	s := c.book()
	c.respond(s.await("elicitation/create"), 2)
	for {
		m, ok := s.read()
		switch {
		case !ok:
			t.Fatal("there is no result")
		case m.Method == "notifications/cancelled":
			t.Error("a question is canceled that the client has answered")
		case m.Method == "":
			expect(t, m, "2 people")
			return
		}
	}
}

func testInvalidAnswer(t *testing.T, c *mcpClient) {
	s := c.book()
	c.respond(s.await("elicitation/create"), 99)
	c.respond(s.await("elicitation/create"), 98)
	c.respond(s.await("elicitation/create"), 3)
	expect(t, s.await(""), "3 people")
}

func testCancellation(t *testing.T, c *mcpClient) {
	s := c.book()
	run := runID(s.await("elicitation/create"))
	c.send(map[string]any{"method": "notifications/cancelled", "params": map[string]any{"requestId": c.lastID}})
	for m, ok := s.read(); ok; m, ok = s.read() {
		if m.Method == "" {
			t.Errorf("the canceled request has a response: %+v", m)
		}
	}
	c.expectState(run, "stopped")
}

func testBrokenStream(t *testing.T, c *mcpClient) {
	s := c.request("tools/call", map[string]any{
		"name": "burst", "arguments": map[string]any{"events": 300}, "_meta": map[string]any{"progressToken": "p"},
	})
	var got []string
	for n := 1; ; n++ {
		m, ok := s.read()
		if !ok {
			t.Fatalf("the stream ends after %q", got)
		}
		if m.Method == "" {
			expect(t, m, "300")
			break
		}
		if _, text, is := strings.Cut(string(m.Params), "event "); is && m.Method == "notifications/progress" {
			got = append(got, strings.TrimRight(text, `"}`))
		}
		if n%70 == 0 && m.event != "" {
			s.close()
			s = c.resume(m.event)
		}
	}
	var want []string
	for n := range 300 {
		want = append(want, fmt.Sprint(n+1))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the events are %q", got)
	}
}

func testQuestionOnBrokenStream(t *testing.T, c *mcpClient) {
	s := c.book()
	asked := s.await("elicitation/create")
	s.close()
	s = c.resume(asked.event)
	c.respond(asked, 99)
	c.respond(s.await("elicitation/create"), 4)
	expect(t, s.await(""), "4 people")

	s = c.book()
	run := runID(s.await("elicitation/create"))
	s.close()
	c.resume(s.last)
	c.send(map[string]any{"method": "notifications/cancelled", "params": map[string]any{"requestId": c.lastID}})
	c.expectState(run, "stopped")
}

func testDeletion(t *testing.T, c *mcpClient) {
	changes := c.do(http.MethodGet, nil)
	c.next++
	if s := c.do(http.MethodDelete, nil); s.response.StatusCode != http.StatusNoContent {
		t.Fatalf("DELETE: %s", s.response.Status)
	}
	for range c.replicas {
		if s := c.request("tools/list", nil); s.response.StatusCode != http.StatusNotFound {
			t.Errorf("a request at %s in a session that was ended elsewhere: %s", s.at, s.response.Status)
		}
	}
	if m, ok := changes.read(); ok {
		t.Errorf("the stream has %+v", m)
	}
}

func testLogLevel(t *testing.T, c *mcpClient) {
	for i := range 1 + len(c.replicas) {
		s := c.request("tools/call", map[string]any{"name": "burst", "arguments": map[string]any{"events": 5}})
		if m, _ := s.read(); (m.Method == "notifications/message") != (i == 0) {
			t.Errorf("%s sends %q first, in call %d", s.at, m.Method, i)
		}
		if i == 0 {
			c.result("logging/setLevel", map[string]any{"level": "error"})
		}
	}
}

// testResumedRun resumes a run with the tool for that, cuts its stream, and answers.
func testResumedRun(t *testing.T, c *mcpClient) {
	s := c.book()
	run := runID(s.await("elicitation/create"))
	s.close()
	s = c.request("tools/call", map[string]any{"name": "beam_resume", "arguments": map[string]any{"run": run}})
	asked := s.await("elicitation/create")
	s.close()
	s = c.resume(asked.event)
	c.respond(asked, 5)
	m := s.await("")
	expect(t, m, "5 people")
	if string(m.ID) != fmt.Sprint(c.lastID) {
		t.Errorf("the response is to %s", m.ID)
	}
}

func taskID(t *testing.T, result string) string {
	t.Helper()
	var created struct{ Task struct{ TaskID string } }
	if err := json.Unmarshal([]byte(result), &created); err != nil || created.Task.TaskID == "" {
		t.Fatalf("the task is %s", result)
	}
	return created.Task.TaskID
}

func (c *mcpClient) createTask() string {
	c.t.Helper()
	return taskID(c.t, string(c.book("task", map[string]any{"ttl": 60_000}).await("").Result))
}

func testTask(t *testing.T, c *mcpClient) {
	task := map[string]any{"taskId": c.createTask()}
	if !programtest.Poll(func() bool { return strings.Contains(c.result("tasks/get", task), "input_required") }) {
		t.Fatal("the task requires no input")
	}
	s := c.request("tasks/result", task)
	asked := s.await("elicitation/create")
	s.close()
	s = c.resume(asked.event)
	c.respond(asked, 6)
	expect(t, s.await(""), "6 people")
	if all := c.result("tasks/list", nil); !strings.Contains(all, task["taskId"].(string)) {
		t.Errorf("the tasks are %s", all)
	}
	if again := c.result("tasks/result", task); !strings.Contains(again, "6 people") {
		t.Errorf("the result is then %s", again)
	}
}

func testCanceledTask(t *testing.T, c *mcpClient) {
	task := map[string]any{"taskId": c.createTask()}
	if canceled := c.result("tasks/cancel", task); !strings.Contains(canceled, `"cancelled"`) {
		t.Errorf("tasks/cancel: %s", canceled)
	}
	for range c.replicas {
		if now := c.result("tasks/get", task); !strings.Contains(now, `"cancelled"`) {
			t.Errorf("tasks/get: %s", now)
		}
	}
}

// testTaskStatus creates a task on another replica than the one that has the session's stream.
func testTaskStatus(t *testing.T, c *mcpClient) {
	changes := c.do(http.MethodGet, nil)
	task := c.createTask()
	c.result("tasks/cancel", map[string]any{"taskId": task})
	for {
		if m := changes.await("notifications/tasks/status"); strings.Contains(string(m.Params), `"cancelled"`) && strings.Contains(string(m.Params), task) {
			return
		}
	}
}

func testRoundTrips(t *testing.T, c *mcpClient) {
	const version = "2026-07-28"
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}},
	}
	call := func(more ...any) (result struct {
		ResultType, RequestState string
		InputRequests            map[string]any
		Content                  []struct{ Text string }
	}) {
		params := withMembers(map[string]any{"name": "book_dinner", "arguments": map[string]any{"date": "2026-11-22", "time": "19:00"}, "_meta": meta}, more...)
		m := c.request("tools/call", params, "MCP-Protocol-Version", version, "Mcp-Method", "tools/call", "Mcp-Name", "book_dinner").await("")
		if err := json.Unmarshal(m.Result, &result); err != nil {
			t.Fatalf("%s%s", m.Result, m.Error)
		}
		return result
	}
	got := call()
	for _, guests := range []int{99, 7} {
		if len(got.InputRequests) != 1 {
			t.Fatalf("a round trip has %+v", got)
		}
		got = call("requestState", got.RequestState, "inputResponses", map[string]any{
			"partySize": map[string]any{"action": "accept", "content": map[string]any{"partySize": guests}},
		})
	}
	if got.ResultType != "complete" || !strings.Contains(got.Content[0].Text, "7 people") {
		t.Errorf("the result is %+v", got)
	}
}

// testKilledReplica kills the replica that has the stream of a call, and its run.
func testKilledReplica(t *testing.T, c *mcpClient, cl *cluster.Cluster) {
	s := c.book()
	asked := s.await("elicitation/create")
	for i, r := range cl.Replicas {
		if r.Address() == s.at {
			if err := r.Kill(); err != nil {
				t.Fatal(err)
			}
			c.replicas = slices.Delete(slices.Clone(c.replicas), i, i+1)
		}
	}
	s = c.resume(asked.event)
	c.respond(asked, 8)
	expect(t, s.await(""), "8 people")
}
