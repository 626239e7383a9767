package interop_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/programtest"
)

// A wire is the program over stdio, line by line.
type wire struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.Closer
	lines   chan string // closed at the end of stdout
	console *programtest.Console
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{t: t, lines: make(chan string, 10_000), console: programtest.NewConsole()}
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
		noRace(t, w.console)
	})
	return w
}

// send sends lines as they are.
func (w *wire) send(lines ...string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, strings.Join(lines, "\n")+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// A said is a message of the program.
type said struct {
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

// next is the program's next message. That nothing else is on stdout is what
// every test of the wire checks by it.
func (w *wire) next() said {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		if !ok {
			w.t.Fatalf("stdout has ended\n%s", w.console)
		}
		m := said{line: line}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			w.t.Fatalf("this is no message: %s", line)
		}
		return m
	case <-time.After(patience):
		w.t.Fatalf("nothing came\n%s", w.console)
	}
	return said{}
}

// fails expects an error.
func (w *wire) fails(id string, code int) {
	w.t.Helper()
	m := w.next()
	if m.Error == nil || m.Error.Code != code || string(m.ID) != id {
		w.t.Errorf("it said %s, want the error %d with the id %q", m.line, code, id)
	}
}

// answers expects the result of a request.
func (w *wire) answers(id string) json.RawMessage {
	w.t.Helper()
	m := w.next()
	if m.Result == nil || string(m.ID) != id {
		w.t.Errorf("it said %s, want the result of %s", m.line, id)
	}
	return m.Result
}

// asks expects a question and returns its id.
func (w *wire) asks() json.RawMessage {
	w.t.Helper()
	m := w.next()
	if m.Method != "elicitation/create" || len(m.ID) == 0 {
		w.t.Fatalf("it said %s, want a question", m.line)
	}
	return m.ID
}

// end closes stdin and expects the program to end well, at once.
func (w *wire) end() {
	w.t.Helper()
	w.in.Close()
	w.ended()
}

func (w *wire) ended() {
	w.t.Helper()
	begun := time.Now()
	timer := time.AfterFunc(patience, func() { w.cmd.Process.Kill() })
	defer timer.Stop()
	err := w.cmd.Wait()
	if took := time.Since(begun); err != nil || took > 2*time.Second {
		w.t.Errorf("it ended with %v after %v\n%s", err, took, w.console)
	}
}

func initialize(version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{}},"clientInfo":{"name":"wire","version":"1"}}}`, version)
}

func call(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%[1]s}}}`, id, tool, arguments)
}

func answerTo(id json.RawMessage, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":%q}}}`, id, text)
}

const ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func hello(t *testing.T, version string) *wire {
	t.Helper()
	w := newWire(t)
	w.send(initialize(version))
	w.answers(`"init"`)
	w.send(ready)
	return w
}

func TestWireIDs(t *testing.T) {
	t.Parallel()
	w := hello(t, november2025)
	for _, id := range []string{"9007199254740993", "-1", "0", `"9007199254740993"`, `"ü\u0000\"\\"`, `""`, "18446744073709551616"} {
		w.send(call(id, "string", "{}"))
		w.answers(id)
	}
	w.send(`{"jsonrpc":"2.0","id":9007199254740995,"method":"tools/call","params":{"name":"progress","arguments":{"count":1},"_meta":{"progressToken":9007199254740993}}}`)
	if m := w.next(); !strings.Contains(m.line, `"progressToken":9007199254740993,`) {
		t.Errorf("the token is not as it was: %s", m.line)
	}
	w.answers("9007199254740995")
	w.end()
}

func TestWireLines(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.send("", "  ", "\r", `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\r")
	w.answers("1")
	w.send(call("2", "string", "{}"))
	w.fails("2", -32600) // before initialize
	w.send(initialize(november2025))
	w.answers(`"init"`)
	for line, code := range map[string]int{
		`garbage`: -32700, `{"jsonrpc":"2.0"`: -32700, "\x00\xff": -32700, `[`: -32600, `[]`: -32600, `{}`: -32600, `7`: -32600, `null`: -32600,
		`{"jsonrpc":"1.0","method":"x"}`: -32600, `{"jsonrpc":"2.0","id":null,"method":"ping"}`: -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`: -32600, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`: -32600,
	} {
		w.send(line)
		if m := w.next(); m.Error == nil || m.Error.Code != code || m.ID != nil && string(m.ID) != "null" {
			t.Errorf("%s was answered with %s, want the error %d", line, m.line, code)
		}
	}
	w.send(`{"jsonrpc":"2.0","id":3,"method":"nonesuch"}`)
	w.fails("3", -32601)
	w.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nonesuch"}}`)
	w.fails("4", -32602)
	w.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[]}`)
	w.fails("4", -32602)
	w.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"string","arguments":null}}`)
	if r := w.answers("5"); strings.Contains(string(r), "isError") {
		t.Errorf("arguments of null: %s", r)
	}
	w.send(`{"jsonrpc":"2.0","id":"unknown","result":{}}`, `{"jsonrpc":"2.0","method":"notifications/nonesuch"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	w.send(`{"jsonrpc":"2.0","id":6,"method":"ping","x":"` + strings.Repeat("x", 17<<20) + `"}`)
	if m := w.next(); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a huge line was answered with %s", m.line)
	}
	io.WriteString(w.in, `{"jsonrpc":"2.0","id":7,"method":"ping"}`) // without an end
	w.in.Close()
	w.answers("7")
	w.ended()
}

// What a client sends in one breath is served in order, as far as order
// matters.
func TestWirePipelined(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.send(initialize(november2025), ready, call("1", "echo", `{"name":"one"}`), call("2", "string", `{}`))
	w.answers(`"init"`)
	var asked, results []string
	for range 10 { // five steps, a question, the other result, then the last step and the result
		switch m := w.next(); {
		case m.Method == "elicitation/create":
			asked = append(asked, m.Params.Message)
			w.send(answerTo(m.ID, "x"))
		case m.Method == "":
			results = append(results, string(m.ID))
		}
		if len(results) == 2 {
			break
		}
	}
	if !slices.Equal(asked, []string{"Say one"}) || len(results) != 2 {
		t.Errorf("it asked %q and answered %q", asked, results)
	}
	w.end()
}

func TestWireDuplicateID(t *testing.T) {
	t.Parallel()
	w := hello(t, november2025)
	w.send(call("1", "slow_ask", `{"name":"a"}`))
	id := w.asks()
	w.send(call("1", "string", `{}`))
	w.fails("1", -32600)
	w.send(answerTo(id, "x"), answerTo(id, "y")) // only one counts
	if r := w.answers("1"); !strings.Contains(string(r), `"value":"x"`) {
		t.Errorf("the result is %s", r)
	}
	w.send(call("1", "string", `{}`)) // now it is free again
	w.answers("1")
	w.end()
}

func TestWireBatches(t *testing.T) {
	t.Parallel()
	batch := "[" + call("1", "string", "{}") + "," + ready + `,7,{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	w := hello(t, "2025-03-26")
	w.send(batch)
	line := <-w.lines
	var list []said
	if err := json.Unmarshal([]byte(line), &list); err != nil || len(list) != 3 || string(list[0].ID) != "1" || list[1].Error == nil || string(list[2].ID) != "2" {
		t.Errorf("the batch was answered with %s", line)
	}
	w.send("["+ready+"]", `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	w.answers("3") // a batch of notifications has no answer
	w.end()
	w = hello(t, june2025)
	w.send(batch)
	w.fails("", -32600)
	w.end()
}

func TestWireProgressComesFirst(t *testing.T) {
	t.Parallel()
	const steps = 500
	w := hello(t, november2025)
	w.send(call("1", "progress", fmt.Sprintf(`{"count":%d}`, steps)))
	for i := range steps {
		if m := w.next(); m.Method != "notifications/progress" || m.Params.Progress != float64(i+1) {
			t.Fatalf("step %d is %s", i+1, m.line)
		}
	}
	w.answers("1")
	w.end()
}

// A cancelled call is not answered, its defers run, and its question is taken
// back.
func TestWireCancelled(t *testing.T) {
	t.Parallel()
	w := hello(t, november2025)
	w.send(call("1", "slow_ask", `{"name":"a"}`))
	id := w.asks()
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if m := w.next(); m.Method != "notifications/cancelled" || string(m.Params.RequestID) != string(id) {
		t.Errorf("it said %s, want the question %s taken back", m.line, id)
	}
	w.send(call("2", "await", `{"name":"a"}`))
	w.answers("2")
	w.send(answerTo(id, "too late"), call("3", "hurried", `{}`))
	id = w.asks()
	if m := w.next(); m.Method != "notifications/cancelled" || string(m.Params.RequestID) != string(id) {
		t.Errorf("it said %s, want the question %s taken back", m.line, id)
	}
	if r := w.answers("3"); !strings.Contains(string(r), `"timeout"`) {
		t.Errorf("the result is %s", r)
	}
	w.end()
}

// However it is told to end, the program ends at once and well, and runs the
// defers of what waits.
func TestWireEnd(t *testing.T) {
	for name, end := range map[string]func(*wire){
		"EOF":     func(w *wire) { w.in.Close() },
		"SIGTERM": func(w *wire) { w.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(w *wire) { w.cmd.Process.Signal(syscall.SIGINT) },
	} {
		for _, tool := range []string{"slow_ask", "durable_ask", "slow", ""} {
			t.Run(name+" "+tool, func(t *testing.T) {
				t.Parallel()
				w := hello(t, november2025)
				if tool != "" {
					w.send(call("1", tool, `{"name":"a"}`))
					w.next() // it has begun
				}
				end(w)
				w.ended()
				if tool != "" && !strings.Contains(w.console.String(), "left a") {
					t.Errorf("the defers did not run:\n%s", w.console)
				}
				for line := range w.lines {
					if !json.Valid([]byte(line)) {
						t.Errorf("stdout has %q", line)
					}
				}
			})
		}
	}
}

// A client that takes nothing any more is as good as gone.
func TestWireClosedStdout(t *testing.T) {
	t.Parallel()
	w := hello(t, november2025)
	w.send(call("1", "slow_ask", `{"name":"a"}`))
	w.asks()
	w.out.Close()
	w.send(call("2", "string", `{}`))
	timer := time.AfterFunc(patience, func() { w.cmd.Process.Kill() })
	defer timer.Stop()
	begun := time.Now()
	if err := w.cmd.Wait(); err != nil && w.cmd.ProcessState.ExitCode() < 0 || time.Since(begun) > 3*time.Second {
		t.Errorf("it ended with %v after %v\n%s", err, time.Since(begun), w.console)
	}
	if !strings.Contains(w.console.String(), "left a") {
		t.Errorf("the defers did not run:\n%s", w.console)
	}
}
