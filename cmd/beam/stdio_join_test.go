package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// If beam stdio joins beam serve, the client's runs and questions are there: the
// first answer wins, and the run outlives the client.
func TestStdioJoinsTheOwner(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, "--data", data)
	c := startMCPClient(t, "beam", "--data", data)
	c.initialize()
	if rest := c.waitForOutput("joined beam serve (process "); !strings.HasPrefix(rest, fmt.Sprint(s.cmd.Process.Pid)) {
		t.Error("it joined process", rest)
	}
	c.callTool("1", "wizard", "{}")
	name := c.waitForMethod("elicitation/create")
	asks := s.waitForAsks(1)
	if string(name.ID) != `"`+asks[0]+`"` {
		t.Errorf("the client is asked %s, the inbox asks %s", name.ID, asks[0])
	}
	s.answer(asks[0], `{"name":"Ada"}`)
	if taken := c.waitForMethod("notifications/cancelled"); string(taken.Params.RequestID) != string(name.ID) {
		t.Errorf("%s was taken back, want %s", taken.Params.RequestID, name.ID)
	}
	c.answer(c.waitForMethod("elicitation/create"), `{"email":"ada@example.org","role":"admin"}`)
	c.waitForMethod("elicitation/create") // whether it shall be done

	began := time.Now()
	c.closeAndWait()
	if took := time.Since(began); took > programtest.ExitTimeout {
		t.Errorf("it ended %s after its stdin", took)
	}
	s.answer(s.waitForAsks(1)[0], `{"confirm":true}`)
	s.waitForAsks(0)
	var runs struct {
		Runs []struct{ Photon, State, Surface string }
	}
	hasEnded := func() bool {
		s.getJSON("/runs", &runs)
		return len(runs.Runs) > 0 && runs.Runs[0].State != "running"
	}
	if !programtest.Poll(hasEnded) {
		t.Fatal("it does not end:", runs)
	}
	if r := runs.Runs[0]; len(runs.Runs) != 1 || r.State != "completed" || r.Surface != "mcp" {
		t.Errorf("the owner's runs are %+v", runs)
	}
}

// Links to questions lead to the owner's pages; the process that the client
// started prints the sign-in address.
func TestStdioLinksToTheOwnersPages(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, "--data", data)
	c := startMCPClient(t, "beam", "--data", data)
	c.writeLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"t","version":"1"}}}`)
	c.callTool("1", "explore_csv", "{}")
	c.waitForMethod("elicitation/create")
	if at := c.waitForOutput("Sign in as its operator, once: "); !strings.HasPrefix(at, s.baseURL+"/login?code=") {
		t.Errorf("it invites to %s, and the owner's pages are at %s", at, s.baseURL)
	}
	c.closeAndWait()
}

// A client's session outlives the Beam that serves it: pending calls return an
// error, and its own process serves later ones.
func TestOwnerKilled(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, "--data", data)
	c := startMCPClient(t, "beam", "--data", data)
	c.initialize()
	c.callTool("1", "wizard", "{}")
	question := c.waitForMethod("elicitation/create")
	c.callTool(`"two"`, "countdown", `{"seconds":3600}`)
	c.waitForMethod("notifications/progress")

	s.signal(syscall.SIGKILL)
	if taken := c.waitForMethod("notifications/cancelled"); string(taken.Params.RequestID) != string(question.ID) {
		t.Errorf("%s was taken back, want %s", taken.Params.RequestID, question.ID)
	}
	told := map[string]string{}
	for range 2 {
		m := c.waitForMessage("an error", func(m rpcMessage) bool { return m.Error != nil })
		told[string(m.ID)] = m.Error.Message
	}
	if !strings.Contains(told["1"], "run is kept") || !strings.Contains(told[`"two"`], "interrupted") {
		t.Errorf("it was told %q", told)
	}

	c.answer(question, `{"name":"too late"}`)
	c.callTool("3", "burst", `{"events":3}`)
	c.waitForMethod("notifications/tools/list_changed")
	if m := c.waitForResponse("3"); m.Result == nil {
		t.Errorf("the call after it: %+v", m)
	}

	// Its process owns the folder now, and says so to who wants it.
	late := startProgram(t, noPreparation, "beam", "serve", "--addr", "127.0.0.1:0", "--data", data)
	late.waitForExit(programtest.WaitTimeout)
	if text := late.console.String(); !strings.Contains(text, fmt.Sprintf("in use by another Beam, beam stdio (process %d)", c.cmd.Process.Pid)) {
		t.Errorf("another Beam says %s", text)
	}
	c.closeAndWait()
	again := startServer(t, "--data", data)
	if asks := again.waitForAsks(1); string(question.ID) != `"`+asks[0]+`"` {
		t.Errorf("after all that, %s asks", asks[0])
	}
}

// When the client's process is killed, its durable runs keep waiting; the others,
// to which nobody could return, are stopped.
func TestJoinedProcessKilled(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, "--data", data)
	c := startMCPClient(t, "beam", "--data", data)
	c.initialize()
	c.callTool("1", "wizard", "{}")
	c.waitForMethod("elicitation/create")
	c.callTool("2", "countdown", `{"seconds":3600}`)
	c.waitForMethod("notifications/progress")
	c.signal(syscall.SIGKILL)
	c.waitForExit(programtest.WaitTimeout)
	var all struct{ Runs []runInfo }
	s.getJSON("/runs", &all)
	if len(all.Runs) != 2 {
		t.Fatalf("the runs are %+v", all.Runs)
	}
	for _, r := range all.Runs {
		if r.Photon == "countdown" {
			s.waitForAsk(r.ID, "")
		} else {
			s.waitForAsk(r.ID, "name")
		}
	}
}

// A client that leaves does not wait for an owner that doesn't respond.
func TestOwnerFrozen(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, "--data", data)
	c := startMCPClient(t, "beam", "--data", data)
	c.initialize()
	s.signal(syscall.SIGSTOP)
	c.callTool("1", "wizard", "{}")
	began := time.Now()
	c.closeAndWait()
	if took := time.Since(began); took > programtest.ExitTimeout {
		t.Errorf("it ended %s after its stdin", took)
	}
}

// An idle client joins the new owner when its Beam is restarted.
func TestOwnerRestarted(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, "--data", data)
	c := startMCPClient(t, "beam", "--data", data)
	c.initialize()
	c.callTool("1", "wizard", "{}")
	c.waitForMethod("elicitation/create")
	s.signal(syscall.SIGTERM)
	c.waitForResponse("1")
	s.waitForExit(programtest.WaitTimeout)

	anew := startServer(t, "--data", data)
	c.callTool("2", "wizard", "{}")
	c.waitForMethod("elicitation/create")
	anew.waitForAsks(2)
	c.waitForOutput(fmt.Sprintf("joined beam serve (process %d)", anew.cmd.Process.Pid))
	c.closeAndWait()
}

// Of two clients without beam serve, one process owns the folder. When that client
// leaves, the other continues.
func TestClientsShareAFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	one := startMCPClient(t, "beam", "--data", data)
	one.initialize()
	two := startMCPClient(t, "beam", "--data", data)
	two.initialize()
	two.waitForOutput("joined beam stdio (process ")
	two.callTool("1", "burst", `{"events":1000}`)
	for i := range 1000 {
		if m := two.waitForMethod("notifications/progress"); m.Params.Message != fmt.Sprint("event ", i+1) {
			t.Fatalf("progress %d is %q", i+1, m.Params.Message)
		}
	}
	two.waitForResponse("1")
	two.callTool(`"w"`, "wizard", "{}")
	two.waitForMethod("elicitation/create")
	began := time.Now()
	one.closeAndWait()
	if took := time.Since(began); took > programtest.ExitTimeout {
		t.Errorf("with another joined, it ended %s after its stdin", took)
	}
	if m := two.waitForResponse(`"w"`); m.Error == nil || !strings.Contains(m.Error.Message, "run is kept") {
		t.Errorf("when the owner left: %+v", m)
	}
	two.callTool("2", "burst", `{"events":1}`)
	if m := two.waitForResponse("2"); m.Result == nil {
		t.Errorf("once the owner had left: %+v", m)
	}
	two.closeAndWait()
}

// A program whose photons the owner doesn't have works on its own.
func TestStdioWithOtherPhotons(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	startServer(t)
	c := startMCPClient(t, "hello")
	c.initialize()
	c.waitForOutput("owns the data folder and can't be joined: it doesn't offer brief, hello, order, purge as this program does. What this client starts is kept in memory")
	c.callTool("1", "hello", "{}")
	c.waitForMethod("elicitation/create")
	c.closeAndWait()

	c = startMCPClient(t, "hello", "--data", filepath.Join(state, "beam"))
	c.waitForExit(programtest.WaitTimeout)
	if c.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %d", c.cmd.ProcessState.ExitCode())
	}
	c.waitForOutput("it doesn't offer brief, hello, order, purge as this program does. Stop that one, or choose another folder")
}

// A folder's path may be longer than a socket's can be.
func TestFolderWithLongPath(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, "--data", data)
	c := startMCPClient(t, "beam", "--data", data)
	c.initialize()
	c.waitForOutput("joined beam serve")
	s.signal(syscall.SIGKILL)
	s.waitForExit(programtest.WaitTimeout)
	left, err := os.ReadFile(filepath.Join(data, "socket-path"))
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, "--data", data)
	if _, err := os.Stat(filepath.Dir(strings.TrimSpace(string(left)))); err == nil {
		t.Errorf("what was killed left %s", left)
	}
	c.callTool("1", "burst", `{"events":1}`)
	c.waitForResponse("1")
	c.closeAndWait()
}

// However often the owner is killed, every request of every client gets a result
// or an error.
func TestNoRequestHangs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	data := t.TempDir()
	owner := startProgram(t, noPreparation, "beam", "serve", "--addr", "127.0.0.1:0", "--data", data)
	stop := make(chan struct{})
	var all sync.WaitGroup
	var results, errors atomic.Int64
	served := make(chan struct{}) // a result to somebody
	for range 4 {
		c := startMCPClient(t, "beam", "--data", data)
		c.initialize()
		all.Go(func() {
			for i := 1; ; i++ {
				select {
				case <-stop:
					c.closeAndWait()
					return
				default:
				}
				id := fmt.Sprint(i)
				c.callTool(id, "burst", `{"events":20}`)
				if m := c.waitForResponse(id); m.Error != nil {
					errors.Add(1)
				} else {
					results.Add(1)
					select {
					case served <- struct{}{}:
					default:
					}
				}
			}
		})
	}
	for range 5 {
		soon := time.After(programtest.WaitTimeout)
		for n := 0; n < 20; n++ { // until they are served again, by whomever
			select {
			case <-served:
			case <-soon:
				n = 20
			}
		}
		owner.cmd.Process.Kill()
		<-owner.exited
		// It can't own the folder if a client was faster.
		owner = startProgram(t, noPreparation, "beam", "serve", "--addr", "127.0.0.1:0", "--data", data)
	}
	close(stop)
	all.Wait()
	t.Logf("%d results, and %d errors", results.Load(), errors.Load())
	if results.Load() < 100 {
		t.Errorf("only %d calls had results", results.Load())
	}
}
