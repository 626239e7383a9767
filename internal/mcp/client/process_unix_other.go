//go:build unix && !linux

package client

import (
	"os/exec"
	"syscall"
)

// setProcessGroup makes a command the leader of a process group.
func setProcessGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func startChild(c *exec.Cmd) error { return c.Start() }
