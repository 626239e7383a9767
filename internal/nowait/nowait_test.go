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

// TestToolsThatComputeKeepNobodyWaiting: as many as there are processors, all of
// which were quick before, so that the runtime is not told of what is read and
// written.
func TestToolsThatComputeKeepNobodyWaiting(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	lines := bufio.NewReader(out)
	send := func(format string, args ...any) {
		t.Helper()
		if _, err := fmt.Fprintf(in, format+"\n", args...); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want string) {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil || !strings.Contains(line, want) {
			t.Fatalf("there came %q (%v), want %s", line, err, want)
		}
	}
	call := func(id int, long bool) {
		t.Helper()
		send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"compute","arguments":{"long":%t}}}`, id, long)
	}
	send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"n","version":"1"}}}`)
	expect(`"protocolVersion"`)
	for began, id := time.Now(), 100; time.Since(began) < 200*time.Millisecond; id++ {
		call(id, false)
		expect(fmt.Sprintf(`"id":%d,"result"`, id))
	}
	n := runtime.GOMAXPROCS(0)
	for i := range n {
		call(i+1, true)
	}
	send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	expect(`"id":"ping"`)
	for i := range n {
		send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i+1)
	}
	call(99, false)
	expect(`"id":99,"result"`)
	in.Close()
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("at the end there came %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
