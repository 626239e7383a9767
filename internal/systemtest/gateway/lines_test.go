package gateway_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A lineClient speaks MCP 2025-11-25 over stdio with a process, at the least cost that
// there is: what it measures is the process.
type lineClient struct {
	tb     testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	lastID int
}

// startLines starts a program over stdio, and initializes the session.
func startLines(tb testing.TB, c upstream) *lineClient {
	tb.Helper()
	l := &lineClient{tb: tb, cmd: exec.Command(c.Command, c.Args...)}
	l.cmd.Env = []string{"HOME=" + tb.TempDir(), "PATH=" + os.Getenv("PATH")}
	for name, value := range c.Env {
		l.cmd.Env = append(l.cmd.Env, name+"="+value)
	}
	l.cmd.Stderr = os.Stderr
	var err error
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	l.out = bufio.NewReaderSize(out, 1<<20)
	if err := l.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		l.in.Close()
		stop := time.AfterFunc(programtest.WaitTimeout, func() { _ = l.cmd.Process.Kill() })
		defer stop.Stop()
		go io.Copy(io.Discard, out)
		_ = l.cmd.Wait()
	})
	l.write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"lines","version":"1"}}}`)
	l.next()
	l.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return l
}

// startThroughGateway starts a Beam over stdio whose only upstream, named test, is the
// test server.
func startThroughGateway(tb testing.TB, flags ...string) *lineClient {
	tb.Helper()
	config := writeConfig(tb, map[string]upstream{"test": testServer(tb)})
	return startLines(tb, child(tb, "beam", append([]string{"stdio", "--memory", "--mcp-config", config}, flags...)...))
}

func (l *lineClient) write(line string) {
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		l.tb.Fatal(err)
	}
}

// next returns the next request or response. It skips notifications.
func (l *lineClient) next() []byte {
	for {
		line, err := l.out.ReadBytes('\n')
		if err != nil {
			l.tb.Fatal(err)
		}
		if !bytes.Contains(line, []byte(`"method":"notifications/`)) {
			return line
		}
	}
}

// begin sends a call and returns its id.
func (l *lineClient) begin(tool string) int {
	l.lastID++
	l.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, l.lastID, tool))
	return l.lastID
}

// answer answers a question.
func (l *lineClient) answer(question []byte) {
	var q struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(question, &q) != nil || q.Method != "elicitation/create" {
		l.tb.Fatalf("got %s, want a question", question)
	}
	l.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"Ada"}}}`, q.ID))
}

// expectResult fails unless a message is the result of a call.
func (l *lineClient) expectResult(message []byte, want string) {
	if !bytes.Contains(message, []byte(want)) || !bytes.Contains(message, []byte(`"result"`)) {
		l.tb.Fatalf("got %s, want a result with %q", message, want)
	}
}

// residentMemory returns the process's resident memory in bytes.
func (l *lineClient) residentMemory() int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.cmd.Process.Pid))
	if err != nil {
		l.tb.Skip(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		l.tb.Fatal(err)
	}
	return kb << 10
}

// processorTime returns the processor time that the process has used.
func (l *lineClient) processorTime() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", l.cmd.Process.Pid))
	if err != nil {
		l.tb.Skip(err)
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // a tick of Linux's clock
}
