package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// start calls a tool of a server without waiting.
func start(ctx context.Context, s *client.Session, tool, args string) *client.Call {
	return s.Call(ctx, client.Request{Method: "tools/call", Params: json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))})
}

// startUntilTold starts a tool that asks, and goes on once it is told.
func startUntilTold(t *testing.T, s *client.Session, tool string) (c *client.Call, tell func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "told")
	return start(t.Context(), s, tool, fmt.Sprintf(`{"after":%q}`, file)), func() {
		t.Helper()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// nextRequest returns the next request of a call.
func nextRequest(t *testing.T, c *client.Call) *client.ServerRequest {
	t.Helper()
	for {
		e, more := c.Next()
		if !more {
			_, err := c.Result()
			t.Fatalf("the call ended without a request: %v", err)
		}
		if e.Request != nil {
			return e.Request
		}
	}
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	if !programtest.Poll(func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || isZombie(pid) }) {
		t.Errorf("the process %d is still there", pid)
	}
}

// isZombie reports whether a process has ended and only waits for its parent.
func isZombie(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(status), ") Z ")
}

var digits = regexp.MustCompile(`"text":"(\d+)"`)

func pidIn(t *testing.T, result string) int {
	t.Helper()
	found := digits.FindStringSubmatch(result)
	if found == nil {
		t.Fatalf("there is no process id in %s", result)
	}
	pid, _ := strconv.Atoi(found[1])
	return pid
}

func TestProcessGroupEndsWithTheSession(t *testing.T) {
	s := connect(t, serveRaw(t, ""), nil)
	grandchild := pidIn(t, call(t, s, "spawn", "{}", func(client.Event) {}))
	s.Close()
	awaitGone(t, grandchild)
}

func TestChildDiesWithItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux does that")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), serverVariable+"=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child := pidIn(t, line)
	parent.Process.Kill()
	parent.Wait()
	awaitGone(t, child)
}

func TestDeathOfTheProcessFailsCallsAndWithdrawsQuestions(t *testing.T) {
	s := connect(t, serveRaw(t, ""), nil)
	c, tell := startUntilTold(t, s, "die")
	r := nextRequest(t, c)
	tell()
	<-r.Context().Done()
	if cause := context.Cause(r.Context()); !strings.Contains(cause.Error(), "exit status 3") {
		t.Errorf("the question was withdrawn because %v", cause)
	}
	if _, err := c.Result(); err == nil || !strings.Contains(err.Error(), "the process ended: exit status 3") {
		t.Errorf("the call failed with %v", err)
	}
	if c := start(t.Context(), s, "echo", "{}"); c != nil {
		if _, err := c.Result(); err == nil {
			t.Error("a call after the end succeeded")
		}
	}
}

func TestCancelledCallNotifiesTheServer(t *testing.T) {
	said := make(chan string, 10)
	s := connect(t, serveRaw(t, ""), func(o *client.Options) { o.HandleStderr = func(line string) { said <- line } })
	ctx, cancel := context.WithCancelCause(t.Context())
	c := start(ctx, s, "hang", "{}")
	call(t, s, "echo", "{}", func(client.Event) {}) // by now, the other call has begun
	cancel(errors.New("enough"))
	if _, err := c.Result(); err == nil || err.Error() != "enough" {
		t.Errorf("the call failed with %v", err)
	}
	if line := <-said; line != "cancelled: enough" {
		t.Errorf("the server says %q", line)
	}
}

// A call whose context ends before or while it begins is cancelled like any other, and the
// session goes on.
func TestCancelledAtOnce(t *testing.T) {
	s := connect(t, serveRaw(t, ""), nil)
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		before := start(ctx, s, "hang", "{}")
		<-ctx.Done()
		for _, c := range []*client.Call{before, start(ctx, s, "hang", "{}")} {
			if _, err := c.Result(); !errors.Is(err, context.Canceled) {
				t.Fatalf("the call failed with %v", err)
			}
		}
	}
	call(t, s, "echo", "{}", func(client.Event) {})
}

func TestServerTakesItsQuestionBack(t *testing.T) {
	s := connect(t, serveRaw(t, ""), nil)
	c, tell := startUntilTold(t, s, "take_back")
	r := nextRequest(t, c)
	tell()
	<-r.Context().Done()
	if cause := context.Cause(r.Context()).Error(); !strings.Contains(cause, "somebody else answered") {
		t.Errorf("it was withdrawn because %s", cause)
	}
	r.Reply(json.RawMessage("{}")) // is ignored
	if _, more := c.Next(); more {
		t.Error("there is another event")
	}
	if _, err := c.Result(); err != nil {
		t.Error(err)
	}
}

func TestRepliesHaveTheIDOfTheRequest(t *testing.T) {
	s := connect(t, serveRaw(t, ""), nil)
	for _, id := range []string{"9007199254740993", `"a\u00e9\"b"`, "-1", `""`, "18446744073709551616"} {
		args, _ := json.Marshal(map[string]string{"id": id})
		result := call(t, s, "ask_as", string(args), func(e client.Event) { e.Request.Reply(json.RawMessage(`{"action":"decline"}`)) })
		if !strings.Contains(result, "decline") {
			t.Errorf("for the id %s, the server got %s", id, result)
		}
	}
}

func TestReusedIDIsRefused(t *testing.T) {
	s := connect(t, serveRaw(t, ""), nil)
	first := start(t.Context(), s, "ask_as", `{"id":"7"}`)
	r := nextRequest(t, first)
	line := `{"line":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\",\"params\":{}}"}`
	call(t, s, "raw", line, func(e client.Event) { t.Errorf("an event: %+v", e) })
	r.Refuse(message.Errorf(-32000, "no"))
	if result, err := first.Result(); err != nil || !strings.Contains(string(result), "is open") {
		t.Errorf("the server got %s, %v", result, err)
	}
}

func TestFaultyLinesHarmNothing(t *testing.T) {
	var faults []string
	s := connect(t, serveRaw(t, ""), func(o *client.Options) { o.HandleFault = func(text string) { faults = append(faults, text) } })
	for _, line := range []string{
		"Server started", "{", "[]", "[1]", `{"jsonrpc":"1.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":999,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[]}}`, `{"jsonrpc":"2.0","method":"notifications/progress"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, `{"jsonrpc":"2.0","id":"x","method":"tools/call"}`, strings.Repeat("[", 100_000),
	} {
		args, _ := json.Marshal(map[string]string{"line": line})
		call(t, s, "raw", string(args), func(e client.Event) { t.Errorf("%s is an event: %+v", line, e) })
	}
	if len(faults) < 7 {
		t.Errorf("the faults are %q", faults)
	}
}

func TestQuestionsOfSeveralCalls(t *testing.T) {
	var chosen *client.Call
	s := connect(t, serveRaw(t, ""), func(o *client.Options) {
		o.Attribute = func(_ *client.ServerRequest, inProgress []*client.Call) *client.Call {
			if len(inProgress) != 2 {
				t.Errorf("%d calls are in progress", len(inProgress))
			}
			return chosen
		}
	})
	first := start(t.Context(), s, "hang", "{}")
	chosen = first
	second := start(t.Context(), s, "ask", "{}")
	nextRequest(t, first).Reply(json.RawMessage(`{"action":"cancel"}`))
	if result, err := second.Result(); err != nil || !strings.Contains(string(result), "cancel") {
		t.Errorf("the result is %s, %v", result, err)
	}
	chosen = nil // and nobody is asked
	third := start(t.Context(), s, "ask", "{}")
	if result, err := third.Result(); err != nil || !strings.Contains(string(result), "-32000") {
		t.Errorf("the result is %s, %v", result, err)
	}
}

func TestStderrIsBounded(t *testing.T) {
	lines, began := 0, time.Now()
	done := make(chan struct{})
	tellDone := sync.OnceFunc(func() { close(done) })
	server := serveRaw(t, "")
	server.Command, server.Args = "/bin/sh", []string{"-c", `yes "$(printf '\033[2Jflood')" | head -c 20000000 >&2; echo end >&2; exit 1`}
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	_, err := client.Connect(ctx, server, client.Options{HandleStderr: func(line string) {
		if lines++; strings.Contains(line, "\x1b") {
			t.Errorf("the line is %q", line)
		}
		if strings.Contains(line, "were dropped") {
			tellDone()
		}
	}})
	if err == nil {
		t.Fatal("it is connected")
	}
	<-done
	// A line that is kept after others were dropped comes with one that counts these.
	const burst, perSecond = 100, 10
	if most := burst + 2*perSecond*int(time.Since(began).Seconds()+1) + 2; lines > most {
		t.Errorf("%d lines were kept, at most %d may be", lines, most)
	}
}
