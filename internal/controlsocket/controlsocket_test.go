package controlsocket

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// serveIn serves an echo handler in a folder until the test ends.
func serveIn(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	owner := func() Owner { return Owner{PID: 7, Command: "the test"} }
	go s.Serve(ctx, owner, map[string]Handler{
		"echo": func(_ context.Context, r *Request) {
			if r.Accept() == nil {
				fmt.Fprintf(r, "%s\n", r.Args)
				io.Copy(r, r)
			}
		},
		"no": func(_ context.Context, r *Request) { r.Refuse(Refusef(Unsupported, "not for you")) },
	}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { cancel(); s.Close(time.Second) })
	return s
}

func TestDialAndServe(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"": t.TempDir(), "a long path": long} {
		t.Run(name, func(t *testing.T) {
			serveIn(t, dir)
			c, owner, err := Dial(t.Context(), dir, "echo", []int{1})
			if err != nil || owner.PID != 7 || c.Owner != owner {
				t.Fatal(c, owner, err)
			}
			fmt.Fprint(c, "and that")
			if err := c.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(c); string(got) != "[1]\nand that" || err != nil {
				t.Errorf("it says %q, %v", got, err)
			}
			c.Close()
			if who, err := Identify(t.Context(), dir); err != nil || who.Command != "the test" {
				t.Error(who, err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Dial(t.Context(), dir, "echo", nil); !errors.Is(err, ErrNoListener) {
		t.Errorf("without a socket, the error is %v", err)
	}
	s := serveIn(t, dir)
	for want, reason := range map[string]Reason{"no": Unsupported, "tea": UnknownOperation} {
		_, owner, err := Dial(t.Context(), dir, want, nil)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Reason != reason || owner.PID != 7 {
			t.Errorf("%s: %v by %+v", want, err, owner)
		}
	}
	if err := s.StopAccepting(); err != nil {
		t.Error(err)
	}
	if _, _, err := Dial(t.Context(), dir, "echo", nil); !errors.Is(err, ErrNoListener) {
		t.Errorf("after the server closed, the error is %v", err)
	}
}

// Invalid and hostile requests are refused cheaply.
func TestFirstLines(t *testing.T) {
	dir := t.TempDir()
	serveIn(t, dir)
	for name, c := range map[string]struct{ line, want string }{
		"another version": {`{"beam":99,"want":"echo"}`, `"reason":"version"`},
		"no hello":        {`GET / HTTP/1.1`, `"reason":"failed"`},
		"too long":        {`{"beam":1,"want":"` + strings.Repeat("x", maxLineBytes), `"reason":"failed"`},
		"no want":         {`{"beam":1}`, `"reason":"unknown"`},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("unix", filepath.Join(dir, socketName))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go fmt.Fprintln(conn, c.line) // it may hang up in the middle
			said, _ := bufio.NewReader(conn).ReadString('\n')
			if !strings.Contains(said, c.want) || !strings.HasPrefix(said, `{"beam":1,`) {
				t.Errorf("it says %q, want %s", said, c.want)
			}
		})
	}
}

// A version mismatch is distinguished from other refusals.
func TestAnotherVersionOwns(t *testing.T) {
	dir := t.TempDir()
	l, err := listenUnix(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for line, reason := range map[string]Reason{
		`{"beam":2,"owner":{"pid":3},"new":[]}`: VersionMismatch,
		`what?`:                                 VersionMismatch,
	} {
		go func() {
			if c, err := l.Accept(); err == nil {
				bufio.NewReader(c).ReadString('\n')
				fmt.Fprintln(c, line)
				c.Close()
			}
		}()
		_, _, err := Dial(t.Context(), dir, "echo", nil)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Reason != reason {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Listen replaces the socket of a process that was killed.
func TestAStaleSocket(t *testing.T) {
	dir := t.TempDir()
	l, err := listenUnix(dir)
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := os.Stat(filepath.Join(dir, socketName)); err != nil {
		t.Fatal("there is no stale socket:", err)
	}
	if _, _, err := Dial(t.Context(), dir, "echo", nil); !errors.Is(err, ErrNoListener) {
		t.Errorf("it says %v", err)
	}
	serveIn(t, dir)
	if _, err := Identify(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

func TestTheSocketIsItsUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such modes")
	}
	dir := t.TempDir()
	serveIn(t, dir)
	info, err := os.Stat(filepath.Join(dir, socketName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

// Close waits for handlers, and closes the connections of those that don't return.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	s, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	reading := make(chan error, 1)
	go s.Serve(ctx, func() Owner { return Owner{} }, map[string]Handler{
		"deaf": func(_ context.Context, r *Request) {
			r.Accept()
			_, err := r.Read(make([]byte, 1))
			reading <- err
		},
	}, slog.New(slog.DiscardHandler))
	c, _, err := Dial(t.Context(), dir, "deaf", nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Close(time.Millisecond); err != nil {
		t.Error(err)
	}
	if err := <-reading; err == nil {
		t.Error("the handler still reads")
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the client still reads")
	}
}

// A socket path that Beam didn't write is refused.
func TestAForeignPointer(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, pointerFileName), []byte("/var/run/docker.sock\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Dial(t.Context(), dir, "echo", nil); err == nil || errors.Is(err, ErrNoListener) {
		t.Errorf("it says %v", err)
	}
	serveIn(t, dir) // who has the lock puts it right
	if _, err := Identify(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

func FuzzReadLine(f *testing.F) {
	f.Add(`{"beam":1,"want":"stdio","args":{"photons":{}}}` + "\n")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, text string) {
		var h hello
		if err := readLine(bufio.NewReaderSize(strings.NewReader(text), 16), &h); err == nil && !strings.Contains(text, "\n") {
			t.Errorf("%q has no end", text)
		}
	})
}
