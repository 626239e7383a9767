package durability

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

// A client is an MCP client that runs beam stdio and acts as the operator.
type client struct {
	in    io.WriteCloser
	lines chan string // closed at the end of stdout
	last  int         // id of a request
}

func startClient(t testing.TB, bin string, args ...string) *client {
	t.Helper()
	cmd := exec.Command(bin, append([]string{"stdio"}, args...)...)
	cmd.Stderr = os.Stderr
	c := &client{lines: make(chan string, 1000)}
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			c.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		c.in.Close()
		for range c.lines {
		}
		cmd.Wait()
	})
	c.request(t, "initialize", `"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}`)
	return c
}

// request returns the response to a request.
func (c *client) request(t testing.TB, method, params string) string {
	t.Helper()
	c.last++
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`+"\n", c.last, method, params)
	for late := time.After(programtest.WaitTimeout); ; {
		select {
		case line := <-c.lines:
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if line == "" || json.Unmarshal([]byte(line), &m) != nil {
				t.Fatalf("%s is answered with %q", method, line)
			}
			if m.Method == "" && string(m.ID) == fmt.Sprint(c.last) {
				return line
			}
		case <-late:
			t.Fatalf("%s is not answered", method)
		}
	}
}

// extension is the _meta of a client of 2026-07-28 that supports tasks.
const extension = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// startTask calls a photon as a task in a protocol version and returns its run.
func (c *client) startTask(t testing.TB, photon, version string) string {
	t.Helper()
	var m struct {
		Result struct {
			TaskID string
			Task   struct{ TaskID string }
		}
	}
	params := fmt.Sprintf(`"name":%q,"task":{"ttl":60000}`, photon)
	if version == "2026-07-28" {
		params = fmt.Sprintf(`"name":%q,%s`, photon, extension)
	}
	response := c.request(t, "tools/call", params)
	if err := json.Unmarshal([]byte(response), &m); err != nil || m.Result.TaskID == "" {
		t.Fatalf("the call is answered with %s", response)
	}
	return m.Result.TaskID
}

// checkTaskResult checks that the task of a run has ended as it should, with
// its result.
func (c *client) checkTaskResult(t *testing.T, r archivedRun) {
	t.Helper()
	params := fmt.Sprintf(`"taskId":%q`, r.ID)
	method := "tasks/result"
	if r.Task == "2026-07-28" {
		method, params = "tasks/get", params+","+extension
	} else if status := c.request(t, "tasks/get", params); !strings.Contains(status, `"status":"`+r.End+`"`) {
		t.Errorf("the task is %s, want %s", status, r.End)
	}
	result := c.request(t, method, params)
	for _, want := range r.Tells {
		if !strings.Contains(result, want) {
			t.Errorf("the task's result is %s, want %s", result, want)
		}
	}
}
