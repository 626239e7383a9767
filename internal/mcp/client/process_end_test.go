package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// connectTold connects to a server that tells its process id, which it returns at once. The
// outcome of the attempt follows.
func connectTold(t *testing.T, options string) (pid int, connected func() (*client.Session, error)) {
	t.Helper()
	pids := make(chan int, 1)
	type outcome struct {
		s   *client.Session
		err error
	}
	done := make(chan outcome, 1)
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	t.Cleanup(cancel)
	go func() {
		s, err := client.Connect(ctx, serveRaw(t, options+",tell pid"), client.Options{HandleStderr: func(line string) {
			var pid int
			if n, _ := fmt.Sscanf(line, "pid %d", &pid); n == 1 {
				select {
				case pids <- pid:
				default:
				}
			}
		}})
		done <- outcome{s, err}
	}()
	select {
	case pid = <-pids:
	case <-ctx.Done():
		t.Fatal("the server didn't start")
	}
	return pid, func() (*client.Session, error) {
		o := <-done
		if o.s != nil {
			t.Cleanup(o.s.Close)
		}
		return o.s, o.err
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// A server that is killed ends what waits for it, with the reason, whatever it was doing.
func TestKilledProcess(t *testing.T) {
	expectKilled := func(t *testing.T, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("the error is %v", err)
		}
	}
	t.Run("handshake", func(t *testing.T) {
		pid, connected := connectTold(t, "ignore discover,ignore initialize")
		kill(t, pid)
		_, err := connected()
		expectKilled(t, err)
	})
	session := func(t *testing.T, options string) (*client.Session, int) {
		pid, connected := connectTold(t, options)
		s, err := connected()
		if err != nil {
			t.Fatal(err)
		}
		return s, pid
	}
	t.Run("listing", func(t *testing.T) {
		s, pid := session(t, "hang in list")
		listed := make(chan error, 1)
		go func() {
			_, err := s.List(t.Context(), "tools/list", "tools", 10)
			listed <- err
		}()
		kill(t, pid)
		expectKilled(t, <-listed)
	})
	t.Run("call", func(t *testing.T) {
		s, pid := session(t, "")
		c := start(t.Context(), s, "hang", "{}")
		kill(t, pid)
		_, err := c.Result()
		expectKilled(t, err)
	})
	t.Run("ask", func(t *testing.T) {
		s, pid := session(t, "")
		c := start(t.Context(), s, "ask", "{}")
		r := nextRequest(t, c)
		kill(t, pid)
		<-r.Context().Done()
		expectKilled(t, context.Cause(r.Context()))
		r.Reply(json.RawMessage(`{"action":"cancel"}`)) // too late, which harms nothing
		_, err := c.Result()
		expectKilled(t, err)
	})
}

// A server that writes without end, and no message, is refused soon.
func TestEndlessOutput(t *testing.T) {
	for _, options := range []string{"endless x", "endless newlines"} {
		ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
		_, err := client.Connect(ctx, serveRaw(t, options), client.Options{ProbeTimeout: time.Minute})
		cancel()
		if err == nil || !strings.Contains(err.Error(), "to stdout without a message") {
			t.Errorf("%s: the error is %v", options, err)
		}
	}
}

// A server that ignores the end of its stdin and SIGTERM is killed, soon if this program is
// ending.
func TestStubbornProcess(t *testing.T) {
	pid, connected := connectTold(t, "stubborn")
	s, err := connected()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.CloseQuickly()
	if took := time.Since(began); took > programtest.ExitTimeout {
		t.Errorf("it took %v to end it", took)
	}
	awaitGone(t, pid)
}

// A gigabyte on stderr neither stops the server nor fills the memory.
func TestGigabyteOnStderr(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	lines := make(chan string, 1000)
	server := client.Target{Name: "loud", Type: client.Stdio, Command: "/bin/sh", Args: []string{"-c", `head -c 1000000000 /dev/zero >&2; yes "$(printf '\033[2Jflood')" | head -c 100000000 >&2; exit 9`}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := client.Connect(ctx, server, client.Options{ProbeTimeout: time.Minute, HandleStderr: func(line string) {
		if len(line) > 2<<10 {
			t.Errorf("a line has %d bytes", len(line))
		}
		select {
		case lines <- line:
		default:
			t.Error("there are more than 1,000 lines")
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "exit status 9") {
		t.Errorf("the error is %v", err)
	}
}
