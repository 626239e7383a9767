package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// talkCommand implements talk FILE COMMAND ARGS..., which runs an MCP server and writes a
// file of messages to it. As a client does, it closes the server's stdin once it has a
// response to each request, so that no grace period decides which responses come.
func talkCommand() { os.Exit(exitStatus(talk(os.Args[1], os.Args[2], os.Args[3:]...))) }

func talk(file, name string, args ...string) error {
	messages, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cmd := exec.Command(name, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	go in.Write(messages) // fails if the server ends before it has read them
	missing := countRequests(string(messages))
	return readLines(cmd, func(line string) {
		if isResponse(line) {
			if missing--; missing == 0 {
				in.Close()
			}
		}
	})
}

// countRequests counts the lines that get a response: requests, and what isn't a message.
func countRequests(messages string) (n int) {
	for line := range strings.Lines(messages) {
		var m struct{ ID json.RawMessage }
		if strings.TrimSpace(line) != "" && (json.Unmarshal([]byte(line), &m) != nil || m.ID != nil) {
			n++
		}
	}
	return n
}

func isResponse(line string) bool {
	var m struct{ Method string }
	return json.Unmarshal([]byte(line), &m) == nil && m.Method == ""
}

// untilCommand implements until TEXT COMMAND ARGS..., which runs a command that doesn't end,
// such as one that reads a stream, until it has printed a line with a text. Then it
// terminates the command, whose exit status doesn't matter.
func untilCommand() { os.Exit(exitStatus(until(os.Args[1], os.Args[2], os.Args[3:]...))) }

func until(text, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	found := false
	err := readLines(cmd, func(line string) {
		if !found && strings.Contains(line, text) {
			found = true
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		}
	})
	if !found {
		return fmt.Errorf("%s ended before it printed %q: %w", name, text, err)
	}
	return nil
}

// readLines runs a command, passes its output on, and calls f with each line.
func readLines(cmd *exec.Cmd, f func(line string)) error {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer time.AfterFunc(programtest.WaitTimeout, func() { _ = cmd.Process.Kill() }).Stop()
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		io.WriteString(os.Stdout, line)
		if err != nil {
			break
		}
		f(line)
	}
	return cmd.Wait()
}

// exitStatus returns the status of a command that ended with err, which it prints.
func exitStatus(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
