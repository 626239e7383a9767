package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A program is a Beam in a process of its own.
type program struct {
	t       testing.TB
	cmd     *exec.Cmd
	console *programtest.Console
	exited  chan struct{} // closed when the process has ended
}

// startProgram starts one of the programs that TestMain names.
func startProgram(t testing.TB, prepare func(*exec.Cmd), name string, args ...string) *program {
	t.Helper()
	p := &program{t, exec.Command(name, args...), programtest.NewConsole(), make(chan struct{})}
	p.cmd.Stderr = p.console
	p.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	prepare(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() { p.cmd.Process.Kill(); <-p.exited })
	return p
}

// noPreparation leaves a command unchanged.
func noPreparation(*exec.Cmd) {}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// waitForOutput waits for a line on stderr that contains text, and returns what
// follows text in the line.
func (p *program) waitForOutput(text string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), programtest.WaitTimeout)
	defer cancel()
	rest, err := p.console.WaitForLine(ctx, text)
	if err != nil {
		p.t.Fatal(err)
	}
	return rest
}

// waitForExit waits until the program ends, and returns how long that took.
func (p *program) waitForExit(within time.Duration) time.Duration {
	p.t.Helper()
	start := time.Now()
	select {
	case <-p.exited:
	case <-time.After(within):
		p.t.Fatalf("the program has not ended within %s; its output:\n%s", within, p.console)
	}
	return time.Since(start)
}
