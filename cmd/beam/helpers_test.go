package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/programtest"
)

// waitTimeout bounds every wait for something that must happen.
const waitTimeout = 20 * time.Second

// A program is a Beam in a process of its own.
type program struct {
	t       testing.TB
	cmd     *exec.Cmd
	console *programtest.Console
	exited  chan struct{} // closed when the process has ended
}

// startProgram starts one of the programs that TestMain names.
func startProgram(t testing.TB, prepare func(*exec.Cmd), name string, args ...string) *program {
	t.Helper()
	p := &program{t, exec.Command(name, args...), programtest.NewConsole(), make(chan struct{})}
	p.cmd.Stderr = p.console
	p.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	prepare(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() { p.cmd.Process.Kill(); <-p.exited })
	return p
}

// noPreparation leaves a command unchanged.
func noPreparation(*exec.Cmd) {}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// waitForOutput waits for a line on stderr that contains text, and returns what
// follows text in the line.
func (p *program) waitForOutput(text string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), waitTimeout)
	defer cancel()
	rest, err := p.console.WaitForLine(ctx, text)
	if err != nil {
		p.t.Fatal(err)
	}
	return rest
}

// waitForExit waits until the program ends, and returns how long that took.
func (p *program) waitForExit(within time.Duration) time.Duration {
	p.t.Helper()
	start := time.Now()
	select {
	case <-p.exited:
	case <-time.After(within):
		p.t.Fatalf("the program has not ended within %s; its output:\n%s", within, p.console)
	}
	return time.Since(start)
}

// A server is a beam serve process with its operator's browser.
type server struct {
	*program
	baseURL string
	browser *http.Client
}

func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	return startServerProgram(t, "beam", args...)
}

func startServerProgram(t testing.TB, name string, args ...string) *server {
	t.Helper()
	out := programtest.NewConsole()
	s := &server{program: startProgram(t, func(c *exec.Cmd) { c.Stdout = out }, name, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)}
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	var err error
	if s.baseURL, err = out.WaitForBaseURL(ctx); err != nil {
		t.Fatal(err)
	}
	if s.browser, err = out.SignIn(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// getJSON requests a path as JSON and decodes the response.
func (s *server) getJSON(path string, v any) {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.baseURL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	response, err := s.browser.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(v); err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatal(path, response.Status, err)
	}
}

// startRun starts a run and returns its id.
func (s *server) startRun(photon string) string {
	s.t.Helper()
	r, err := s.browser.Post(s.baseURL+"/photons/"+photon+"/runs", "application/json", strings.NewReader("{}"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	var begun struct{ ID string }
	if err := json.NewDecoder(r.Body).Decode(&begun); err != nil || r.StatusCode != http.StatusCreated {
		s.t.Fatal("starting:", r.Status, err)
	}
	return begun.ID
}

// A runInfo is the JSON of a run.
type runInfo struct {
	ID, Photon, State, Error string
	Asks                     []struct{ ID, Key string }
}

// waitForAsk waits until a run has an open question with the given key, and returns
// the question's id. With an empty key, it waits until the run has ended.
func (s *server) waitForAsk(id, key string) string {
	s.t.Helper()
	for began := time.Now(); ; {
		var r runInfo
		s.getJSON("/runs/"+id, &r)
		switch {
		case len(r.Asks) > 0 && r.Asks[0].Key == key:
			return r.Asks[0].ID
		case key == "" && r.State != "running" && r.State != "waiting":
			return ""
		case time.Since(began) > waitTimeout:
			s.t.Fatalf("the run is %+v, want the question %q", r, key)
		}
	}
}

// readStream returns a run's whole stream.
func (s *server) readStream(id string) string {
	s.t.Helper()
	r, err := s.browser.Get(s.baseURL + "/runs/" + id + "/events")
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	all, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(all)
}

// uploadFile answers a question for a file.
func (s *server) uploadFile(ask, content string) {
	s.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "f.txt")
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		s.t.Fatal(err)
	}
	r, err := s.browser.Post(s.baseURL+"/mcp/request?action=accept&ask="+ask, w.FormDataContentType(), &form)
	if err != nil || r.StatusCode >= 300 {
		s.t.Fatal("handing in a file:", r, err)
	}
	r.Body.Close()
}

// waitForAsks waits until the inbox has n questions, and returns their ids.
func (s *server) waitForAsks(n int) []string {
	s.t.Helper()
	for began := time.Now(); ; {
		var inbox struct{ Asks []struct{ ID string } }
		s.getJSON("/asks", &inbox)
		if len(inbox.Asks) == n {
			var ids []string
			for _, a := range inbox.Asks {
				ids = append(ids, a.ID)
			}
			return ids
		}
		if time.Since(began) > waitTimeout {
			s.t.Fatalf("the inbox has %d questions, want %d", len(inbox.Asks), n)
		}
	}
}

func (s *server) answer(ask, content string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":%s}}`, ask, content)
	r, err := s.browser.Post(s.baseURL+"/mcp/request", "application/json", strings.NewReader(body))
	if err != nil || r.StatusCode != http.StatusAccepted {
		s.t.Fatal("answering:", r, err)
	}
	r.Body.Close()
}

// An mcpClient is an MCP client with its beam stdio process.
type mcpClient struct {
	*program
	in    io.WriteCloser
	lines chan string // closed at the end of stdout
}

func startMCPClient(t testing.TB, name string, args ...string) *mcpClient {
	t.Helper()
	c := &mcpClient{lines: make(chan string, 10_000)}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.program = startProgram(t, func(cmd *exec.Cmd) {
		cmd.Stdout = w
		if c.in, err = cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
	}, name, append([]string{"stdio"}, args...)...)
	w.Close()
	go func() {
		defer close(c.lines)
		s := bufio.NewScanner(r)
		s.Buffer(nil, 64<<20)
		for s.Scan() {
			c.lines <- s.Text()
		}
		r.Close()
	}()
	return c
}

// An rpcMessage is a message from the program.
type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Message   string          `json:"message"`
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// waitForMessage returns the next message that fits; it must arrive within
// waitTimeout.
func (c *mcpClient) waitForMessage(what string, fits func(rpcMessage) bool) rpcMessage {
	c.t.Helper()
	timeout := time.After(waitTimeout)
	for {
		select {
		case line, ok := <-c.lines:
			var m rpcMessage
			if ok && json.Unmarshal([]byte(line), &m) == nil && fits(m) {
				return m
			}
			if !ok {
				c.t.Fatalf("stdout ended before %s; it says:\n%s", what, c.console)
			}
		case <-timeout:
			c.t.Fatalf("%s did not come; it says:\n%s", what, c.console)
		}
	}
}

func (c *mcpClient) waitForMethod(name string) rpcMessage {
	c.t.Helper()
	return c.waitForMessage(name, func(m rpcMessage) bool { return m.Method == name })
}

// waitForResponse waits for the response to the request with the raw id.
func (c *mcpClient) waitForResponse(id string) rpcMessage {
	c.t.Helper()
	return c.waitForMessage("the response to "+id, func(m rpcMessage) bool { return m.Method == "" && string(m.ID) == id })
}

func (c *mcpClient) writeLines(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *mcpClient) initialize() {
	c.t.Helper()
	c.writeLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.waitForResponse("0")
}

func (c *mcpClient) callTool(id, tool, args string) {
	c.t.Helper()
	c.writeLines(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":1}}}`, id, tool, args))
}

func (c *mcpClient) answer(question rpcMessage, content string) {
	c.t.Helper()
	c.writeLines(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":%s}}`, question.ID, content))
}

// closeAndWait closes stdin and expects the program to end within two seconds.
func (c *mcpClient) closeAndWait() {
	c.t.Helper()
	c.in.Close()
	c.waitForExit(waitTimeout)
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		c.t.Errorf("it ended with %d; it says:\n%s", code, c.console)
	}
}
