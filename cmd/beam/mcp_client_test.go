package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

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
// programtest.WaitTimeout.
func (c *mcpClient) waitForMessage(what string, fits func(rpcMessage) bool) rpcMessage {
	c.t.Helper()
	timeout := time.After(programtest.WaitTimeout)
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
	c.waitForExit(programtest.WaitTimeout)
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		c.t.Errorf("it ended with %d; it says:\n%s", code, c.console)
	}
}
