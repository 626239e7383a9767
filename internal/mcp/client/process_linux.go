package client

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// setProcessGroup makes a command the leader of a process group. Linux kills it when
// this process dies, however that happens.
func setProcessGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// startChild starts a command. Linux sends Pdeathsig when the thread ends that started
// the child, so all are started by one thread, which never ends.
func startChild(c *exec.Cmd) error {
	startStarter.Do(func() {
		go func() {
			runtime.LockOSThread()
			for start := range starts {
				start()
			}
		}()
	})
	err := make(chan error)
	starts <- func() { err <- c.Start() }
	return <-err
}

var (
	startStarter sync.Once
	starts       = make(chan func())
)
