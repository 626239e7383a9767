package interop_test

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

// A stdioClient runs the program over stdio and reads its output line by line.
type stdioClient struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.Closer
	lines   chan string // closed at the end of stdout
	console *programtest.Console
}

func newStdioClient(t *testing.T) *stdioClient {
	t.Helper()
	w := &stdioClient{t: t, lines: make(chan string, 10_000), console: programtest.NewConsole()}
	w.cmd = stdioCommand(w.console)
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.cmd.Stdout, w.out = stdout, r
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	go func() {
		defer close(w.lines)
		s := bufio.NewScanner(r)
		s.Buffer(nil, 64<<20)
		for s.Scan() {
			w.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		if w.cmd.ProcessState == nil {
			w.cmd.Process.Kill()
			w.cmd.Wait()
		}
		r.Close()
		expectNoRace(t, w.console)
	})
	return w
}

// sendLines sends lines unchanged.
func (w *stdioClient) sendLines(lines ...string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, strings.Join(lines, "\n")+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// A serverMessage is a message from the program.
type serverMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		Message   string          `json:"message"`
		RequestID json.RawMessage `json:"requestId"`
		Progress  float64         `json:"progress"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	line string
}

// nextMessage returns the program's next message. By calling it, each of these tests
// also checks that stdout contains nothing else.
func (w *stdioClient) nextMessage() serverMessage {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		if !ok {
			w.t.Fatalf("stdout has ended\n%s", w.console)
		}
		m := serverMessage{line: line}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			w.t.Fatalf("this is no message: %s", line)
		}
		return m
	case <-time.After(programtest.WaitTimeout):
		w.t.Fatalf("nothing came\n%s", w.console)
	}
	return serverMessage{}
}

// expectError expects an error.
func (w *stdioClient) expectError(id string, code int) {
	w.t.Helper()
	m := w.nextMessage()
	if m.Error == nil || m.Error.Code != code || string(m.ID) != id {
		w.t.Errorf("got %s, want the error %d with the id %q", m.line, code, id)
	}
}

// expectResult expects the result of a request.
func (w *stdioClient) expectResult(id string) json.RawMessage {
	w.t.Helper()
	m := w.nextMessage()
	if m.Result == nil || string(m.ID) != id {
		w.t.Errorf("got %s, want the result of %s", m.line, id)
	}
	return m.Result
}

// expectQuestion expects a question and returns its id.
func (w *stdioClient) expectQuestion() json.RawMessage {
	w.t.Helper()
	m := w.nextMessage()
	if m.Method != "elicitation/create" || len(m.ID) == 0 {
		w.t.Fatalf("got %s, want a question", m.line)
	}
	return m.ID
}

// closeAndWait closes stdin and expects the program to exit successfully at once.
func (w *stdioClient) closeAndWait() {
	w.t.Helper()
	w.in.Close()
	w.waitForExit()
}

func (w *stdioClient) waitForExit() {
	w.t.Helper()
	begun := time.Now()
	timer := time.AfterFunc(programtest.WaitTimeout, func() { w.cmd.Process.Kill() })
	defer timer.Stop()
	err := w.cmd.Wait()
	if took := time.Since(begun); err != nil || took > programtest.ExitTimeout {
		w.t.Errorf("it ended with %v after %v\n%s", err, took, w.console)
	}
}

func initializeLine(version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{}},"clientInfo":{"name":"wire","version":"1"}}}`, version)
}

func callLine(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%[1]s}}}`, id, tool, arguments)
}

func answerLine(id json.RawMessage, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":%q}}}`, id, text)
}

const initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func newInitializedClient(t *testing.T, version string) *stdioClient {
	t.Helper()
	w := newStdioClient(t)
	w.sendLines(initializeLine(version))
	w.expectResult(`"init"`)
	w.sendLines(initializedLine)
	return w
}
