//go:build unix

package client

import (
	"os/exec"
	"syscall"
)

// terminateGroup asks the processes of a command's group to end.
func terminateGroup(c *exec.Cmd) { signalGroup(c, syscall.SIGTERM) }

// killGroup ends the processes of a command's group.
func killGroup(c *exec.Cmd) { signalGroup(c, syscall.SIGKILL) }

func signalGroup(c *exec.Cmd, signal syscall.Signal) {
	_ = syscall.Kill(-c.Process.Pid, signal) // it may have ended
}
