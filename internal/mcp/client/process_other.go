//go:build !unix

package client

import "os/exec"

func setProcessGroup(*exec.Cmd) {}

func startChild(c *exec.Cmd) error { return c.Start() }

func terminateGroup(c *exec.Cmd) { _ = c.Process.Kill() } // it may have ended

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() } // it may have ended
