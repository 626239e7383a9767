package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A Replica is a process of Beam, or of a program with Beam's commands, that is ended and
// started again at the same address. One goroutine at a time may call its methods, except
// for Address.
type Replica struct {
	// Program and Args are what the next Start starts, with --addr.
	Program string
	Args    []string
	Env     []string  // added to this program's environment
	Output  io.Writer // takes what it prints; nil for none

	addr    string
	process *process
	console *programtest.Console
}

// NewReplica returns a replica with an address of its own. It isn't started.
func NewReplica(program string, args ...string) (*Replica, error) {
	addr, err := programtest.FindFreeAddress()
	return &Replica{Program: program, Args: args, addr: addr}, err
}

// Address returns the host and port at which the replica listens.
func (r *Replica) Address() string { return r.addr }

// PID returns the process that was started last, or 0.
func (r *Replica) PID() int { return r.process.pid() }

// Console returns what was printed since the last start.
func (r *Replica) Console() *programtest.Console { return r.console }

// Start starts the program, and returns when it listens.
func (r *Replica) Start(ctx context.Context) error {
	if !r.process.hasEnded() {
		return errors.New("the replica runs already")
	}
	r.console = programtest.NewConsole()
	var out io.Writer = r.console
	if r.Output != nil {
		out = io.MultiWriter(r.console, r.Output)
	}
	cmd := exec.Command(r.Program, append(append([]string(nil), r.Args...), "--addr", r.addr)...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(os.Environ(), r.Env...)
	p, err := startProcess(cmd, nil)
	if err != nil {
		return err
	}
	r.process = p
	waiting, cancel := context.WithTimeout(ctx, programtest.WaitTimeout)
	defer cancel()
	go func() {
		select {
		case <-p.ended:
			cancel() // it will not say that it listens
		case <-waiting.Done():
		}
	}()
	if _, err := r.console.WaitForBaseURL(waiting); err != nil {
		return errors.Join(fmt.Errorf("the replica at %s: %w", r.addr, err), r.Kill())
	}
	return nil
}

// Kill ends the program at once, also one that is frozen.
func (r *Replica) Kill() error { return r.process.kill() }

// Terminate asks the program to end, and returns when it has, with an error if its status
// says that it failed.
func (r *Replica) Terminate(ctx context.Context) error {
	if err := r.process.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-r.process.ended:
	case <-ctx.Done():
		return fmt.Errorf("the replica at %s doesn't end: %w", r.addr, ctx.Err())
	}
	if state := r.process.cmd.ProcessState; !state.Success() {
		return fmt.Errorf("the replica at %s ended with %v:\n%s", r.addr, state, r.console)
	}
	return nil
}

// Freeze stops the program where it is, until Thaw. The system still accepts connections for
// it.
func (r *Replica) Freeze() error { return r.process.signal(syscall.SIGSTOP) }

// Thaw lets a frozen program go on.
func (r *Replica) Thaw() error { return r.process.signal(syscall.SIGCONT) }
