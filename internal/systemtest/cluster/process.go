package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A process is a program that was started. A key that interrupts this program in a terminal
// doesn't reach it.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the program has ended
}

// startProcess starts a command, as another user unless who is nil.
func startProcess(cmd *exec.Cmd, who *syscall.Credential) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: who}
	dieWithParent(cmd.SysProcAttr)
	cmd.WaitDelay = time.Second // children may keep its output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait()
	}()
	return p, nil
}

// hasEnded reports whether the program has ended. A program that was never started has.
func (p *process) hasEnded() bool {
	if p == nil {
		return true
	}
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) pid() int {
	if p == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// signal sends a signal to a program that runs.
func (p *process) signal(s syscall.Signal) error {
	if p.hasEnded() {
		return os.ErrProcessDone
	}
	return p.cmd.Process.Signal(s)
}

// childrenOf returns the processes whose parent is a process.
func childrenOf(parent int) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		if pid, ppid, state := readStat(file); ppid == parent && state != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// exists reports whether a process runs. One whose parent has not noticed its end doesn't.
func exists(pid int) bool {
	_, _, state := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	return state != "" && state != "Z"
}

// readStat reads a process's file in /proc. All are zero if it has ended.
func readStat(file string) (pid, parent int, state string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, ""
	}
	begin, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	rest := strings.Fields(string(text[end+1:]))
	if begin < 0 || end < 0 || len(rest) < 2 {
		return 0, 0, ""
	}
	pid, _ = strconv.Atoi(strings.TrimSpace(string(text[:begin])))
	parent, _ = strconv.Atoi(rest[1])
	return pid, parent, rest[0]
}

// kill ends a program at once, and waits until it has ended.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if p != nil {
		<-p.ended
	}
	return nil
}

// killAll kills a program and its children, and waits until all have ended.
func (p *process) killAll() error {
	if p.hasEnded() {
		return nil
	}
	children := childrenOf(p.pid())
	if err := p.kill(); err != nil {
		return err
	}
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range children {
		if !programtest.Poll(func() bool { return !exists(pid) }) {
			return fmt.Errorf("process %d, a child of %s, doesn't end", pid, p.cmd.Path)
		}
	}
	return nil
}
