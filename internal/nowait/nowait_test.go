package nowait_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
)

// asProgram has the test's binary serve its tool over stdio.
const asProgram = "BEAM_NOWAIT_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(beam.Run(context.Background(), []string{"stdio", "--memory"}, os.Stdin, os.Stdout, os.Stderr, compute))
	}
	os.Exit(m.Run())
}

// compute returns at once, or computes until it is stopped. It makes no system
// call, and no garbage.
var compute = generators.New("compute", func(ctx context.Context, in struct {
	Long bool `json:"long,omitempty"`
}, _ generators.Yield) (string, error) {
	var stopped atomic.Bool
	defer context.AfterFunc(ctx, func() { stopped.Store(true) })()
	for in.Long && !stopped.Load() {
	}
	return "done", nil
}, nil)

// A client calls the tool of a program of its own.
type client struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
}

// begun is a client whose tool was quick, so that the runtime is not told of what
// is read and written.
func begun(t *testing.T, env ...string) *client {
	t.Helper()
	c := &client{t: t, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	c.cmd.Stderr = t.Output()
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.lines = in, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { c.cmd.Process.Kill() })
	t.Cleanup(func() { stuck.Stop() })
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"n","version":"1"}}}`)
	c.expect(`"protocolVersion"`)
	c.quicken()
	return c
}

// quicken calls the tool for as long as it takes until the runtime is told no more.
func (c *client) quicken() {
	c.t.Helper()
	for began, id := time.Now(), 100; time.Since(began) < 200*time.Millisecond; id++ {
		c.call(id, false)
		c.expect(fmt.Sprintf(`"id":%d,"result"`, id))
	}
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) expect(want string) {
	c.t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		c.t.Fatalf("there came %q (%v), want %s", line, err, want)
	}
}

func (c *client) call(id int, long bool) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"compute","arguments":{"long":%t}}}`, id, long)
}

func (c *client) pings() {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	c.expect(`"id":"ping"`)
}

func (c *client) cancel(id int) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
}

func (c *client) end() {
	c.t.Helper()
	c.in.Close()
	if rest, err := io.ReadAll(c.lines); err != nil || len(rest) > 0 {
		c.t.Errorf("at the end there came %q, %v", rest, err)
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Error(err)
	}
}

// TestToolsThatComputeKeepNobodyWaiting: as many as there are processors.
func TestToolsThatComputeKeepNobodyWaiting(t *testing.T) {
	c := begun(t)
	n := runtime.GOMAXPROCS(0)
	for i := range n {
		c.call(i+1, true)
	}
	c.pings()
	for i := range n {
		c.cancel(i + 1)
	}
	c.call(99, false)
	c.expect(`"id":99,"result"`)
	c.end()
}

// TestAToolThatComputesAfterARestKeepsNobodyWaiting: what was begun to be read
// when the watch went is read when it goes no more. There is one processor, so
// that nobody but the system monitor takes it from the tool.
func TestAToolThatComputesAfterARestKeepsNobodyWaiting(t *testing.T) {
	const rest, most = 100 * time.Millisecond, 150 * time.Millisecond
	c := begun(t, "GOMAXPROCS=1")
	took := time.Hour
	for id := 1; id <= 5 && took > most; id++ { // the machine may be busy
		time.Sleep(rest)
		c.call(id, true)
		time.Sleep(rest / 10) // with a message behind it, it would have a goroutine of its own
		began := time.Now()
		c.pings()
		took = min(took, time.Since(began))
		c.cancel(id)
		c.quicken()
	}
	if took > most {
		t.Errorf("while a tool computes, it takes %s until a message is read", took)
	}
	c.end()
}
