package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/stdio"
)

// exitGrace is how long the last messages of a process may take, and a process that has
// closed its stdin may take to end.
const exitGrace = 2 * time.Second

// A process is the transport to a server that is a child process: each message is a line
// (MCP, Transports, stdio).
type process struct {
	session *Session
	command *exec.Cmd
	stdin   io.WriteCloser
	writer  *stdio.Writer
	readers sync.WaitGroup // of stdout and stderr
	exited  chan struct{}  // closed when the process has ended
	stop    sync.Once
}

var _ transport = (*process)(nil)

// startProcess starts a server's process, in a process group of its own.
func startProcess(s *Session, server Target) (*process, error) {
	p := &process{session: s, command: exec.Command(server.Command, server.Args...), exited: make(chan struct{})}
	p.command.Dir = server.Cwd
	p.command.Env = childEnv(server.Env)
	setProcessGroup(p.command)
	stdin, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stderr, childErr, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdout.Close(), childOut.Close())
	}
	p.stdin, p.command.Stdout, p.command.Stderr = stdin, childOut, childErr
	err = startChild(p.command)
	childOut.Close()
	childErr.Close()
	if err != nil {
		stdout.Close()
		stderr.Close()
		stdin.Close()
		return nil, fmt.Errorf("the command can't be started: %w", err)
	}
	p.writer = stdio.NewWriter(stdin, func() { go p.handleDeaf() })
	p.readers.Go(func() { p.readStdout(stdout) })
	p.readers.Go(func() { readStderr(stderr, s.options.HandleStderr) })
	go p.wait()
	return p, nil
}

// ErrProcess is wrapped by the error of a session whose process has failed.
var ErrProcess = errors.New("the process")

// handleDeaf ends the session with a process that doesn't read any more. Usually it has
// ended, which says more.
func (p *process) handleDeaf() {
	if !p.exitsWithin(exitGrace) {
		p.session.End(fmt.Errorf("%w doesn't read what it is sent", ErrProcess))
	}
}

// childEnv returns the environment of a child: what a program needs of Beam's own, and
// what the configuration adds. Other variables may be secrets that are meant for Beam, or
// for another server.
func childEnv(more map[string]string) []string {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name = strings.ToUpper(name); sharedVariables[name] || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") {
			env = append(env, entry)
		}
	}
	for name, value := range more {
		env = append(env, name+"="+value)
	}
	return env
}

// sharedVariables are the variables that children get, in upper case: those that the
// official MCP SDKs pass on, and those for languages, the network and temporary files.
var sharedVariables = map[string]bool{
	"HOME": true, "LOGNAME": true, "PATH": true, "SHELL": true, "TERM": true, "USER": true,
	"LANG": true, "LANGUAGE": true, "TZ": true, "TMPDIR": true,
	"HTTP_PROXY": true, "HTTPS_PROXY": true, "NO_PROXY": true, "ALL_PROXY": true,
	"SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "NODE_EXTRA_CA_CERTS": true,
	// Windows
	"APPDATA": true, "HOMEDRIVE": true, "HOMEPATH": true, "LOCALAPPDATA": true, "PATHEXT": true, "PROCESSOR_ARCHITECTURE": true,
	"PROGRAMFILES": true, "SYSTEMDRIVE": true, "SYSTEMROOT": true, "TEMP": true, "TMP": true, "USERNAME": true, "USERPROFILE": true, "WINDIR": true,
}

// readStdout passes the lines that the process writes on to the session.
func (p *process) readStdout(stdout *os.File) {
	defer stdout.Close()
	s := p.session
	in := &messageReader{in: stdout}
	err := stdio.ReadLines(in, func(line []byte) {
		in.read = 0
		if line[0] != '{' && line[0] != '[' {
			s.fault("it wrote a line to stdout that is no message: %s", shorten(line))
			return
		}
		s.receive(line, nil)
	}, s.handleTooLarge)
	if err != nil {
		s.End(fmt.Errorf("reading from the process: %w", err))
	}
}

// A messageReader reads what a process writes, until it has written too much without a
// message in it, such as a line without an end or nothing but blank lines.
type messageReader struct {
	in   io.Reader
	read int64 // bytes since the last message
}

// maxWithoutMessage is how much a process may write without a message, in bytes. Each byte of
// white space counts as blankWeight, since blank lines take longer to read.
const (
	maxWithoutMessage = 4 * message.MaxSize
	blankWeight       = 100
)

func (r *messageReader) Read(p []byte) (int, error) {
	if r.read > maxWithoutMessage {
		return 0, errors.New("it wrote too much to stdout without a message")
	}
	n, err := r.in.Read(p)
	r.read += int64(n)
	if len(bytes.TrimSpace(p[:n])) == 0 {
		r.read += (blankWeight - 1) * int64(n)
	}
	return n, err
}

// wait waits for the end of the process. Whatever it leaves in its process group is
// killed.
func (p *process) wait() {
	err := p.command.Wait()
	killGroup(p.command)
	close(p.exited)
	drained := make(chan struct{})
	go func() { p.readers.Wait(); close(drained) }()
	select { // its last messages count
	case <-drained:
	case <-time.After(exitGrace):
	}
	text := "exit status 0"
	if err != nil {
		text = err.Error()
	}
	p.session.End(fmt.Errorf("%w ended: %s", ErrProcess, text))
	p.writer.Close()
}

// send implements [transport].
func (p *process) send(raw []byte, _ *pendingRequest) { p.writer.SendAsync(raw) }

// sendNow implements [transport].
func (p *process) sendNow(raw []byte) { p.writer.SendAsync(raw) }

// setVersion implements [transport].
func (p *process) setVersion(string) {}

// close implements [transport]: it closes stdin, and ends a process that goes on by
// SIGTERM and then SIGKILL.
func (p *process) close(grace time.Duration) {
	p.stop.Do(func() {
		stdio.WaitAtMost(grace/4, p.writer.Flush) // of what was cancelled
		p.stdin.Close()
		if p.exitsWithin(grace) {
			return
		}
		terminateGroup(p.command)
		if p.exitsWithin(grace) {
			return
		}
		killGroup(p.command)
	})
	<-p.exited
	stdio.WaitAtMost(grace, p.readers.Wait)
}

func (p *process) exitsWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}
