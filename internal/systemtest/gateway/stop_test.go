package gateway_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// stubborn returns an upstream that serves MCP, and goes on after the end of its stdin and
// after SIGTERM.
func stubborn(t testing.TB) upstream {
	server := testServer(t)
	script := `trap "" TERM; "$0" "$@"; while :; do sleep 1; done`
	server.Command, server.Args = "/bin/sh", append([]string{"-c", script, server.Command}, server.Args...)
	return server
}

// stopsWithin is how long beam serve may take to end because of its upstreams.
const stopsWithin = 2 * time.Second

// A stubborn upstream doesn't keep beam serve from ending soon. What it takes without one
// tells how busy the machine is; since that changes, the best of three counts.
func TestStopWithStubbornUpstream(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip(err)
	}
	for range 3 {
		with, without := stopWithStubbornUpstream(t)
		if with <= without+stopsWithin {
			return
		}
		t.Logf("beam serve ended after %s, and without upstreams after %s", with, without)
	}
	t.Error("stubborn upstreams keep beam serve from ending")
}

// stopWithStubbornUpstream returns how long beam serve takes to end with stubborn upstreams,
// and meanwhile without any.
func stopWithStubbornUpstream(t *testing.T) (with, without time.Duration) {
	t.Helper()
	alone := startGateway(t, map[string]upstream{})
	held := startGateway(t, map[string]upstream{"first": stubborn(t), "second": stubborn(t)})
	awaitTools(t, held.connect("2025-11-25", accept(nil)), "first__content_text", "second__content_text")
	took := func(g *gateway) time.Duration {
		began := time.Now()
		if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		select {
		case <-g.exited:
		case <-time.After(3 * programtest.ExitTimeout):
			t.Error("beam serve did not end")
		}
		return time.Since(began)
	}
	base := make(chan time.Duration)
	go func() { base <- took(alone) }()
	with = took(held)
	without = <-base
	if code := held.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the exit status is %d", code)
	}
	return with, without
}
