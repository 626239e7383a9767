// Package dev builds and runs a program of photons again whenever its source changes.
package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/cleantext"
)

// A Loop is the development of one program.
type Loop struct {
	Folder         string   // of the program's package main
	Addr           string   // where the program serves, and failures are shown
	Args           []string // of the program
	Stdin          *os.File // of the program; nil for none
	Stdout, Stderr io.Writer
	Say            func(format string, args ...any) // tells the user what happens
}

// stopTimeout is how long the program may take to end before it is killed.
const stopTimeout = 15 * time.Second

// signalPause is how long the program may take to end by the terminal's signal.
const signalPause = time.Second

// Run builds and runs the program until ctx ends. While the source can't be built, or once
// the program has ended by itself, it serves a page that says why. The error is that of the
// folder or of the address; those of builds and of the program are shown.
func (l *Loop) Run(ctx context.Context) error {
	if info, err := os.Stat(l.Folder); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", l.Folder)
	}
	bin, err := os.MkdirTemp("", "beam-dev-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	w := &watcher{folder: l.Folder}
	var p *process
	defer func() { p.stop(ctx) }()
	for ctx.Err() == nil {
		seen := w.look()
		next, why := l.rebuild(ctx, bin)
		p.stop(ctx) // it has served until now
		if p = nil; ctx.Err() != nil {
			break
		}
		if why == nil {
			if p, err = l.start(next); err != nil {
				return err
			}
			if w.waitForChange(ctx, seen, false, p.ended); ctx.Err() != nil || !p.hasEnded() {
				continue
			}
			why = &failure{"The program ended", p.log.String() + "\n" + p.status()}
		}
		l.Say("%s", why.Title)
		if err := l.showUntilChange(ctx, why, w, seen); err != nil {
			return err
		}
	}
	return nil
}

// rebuild builds the program in a folder of binaries, and returns its file.
func (l *Loop) rebuild(ctx context.Context, bin string) (file string, why *failure) {
	start := time.Now()
	absolute, err := filepath.Abs(l.Folder)
	if err != nil {
		return "", &failure{"The folder can't be found", err.Error()}
	}
	file = filepath.Join(bin, filepath.Base(absolute))
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	// Linking takes most of the time, and takes less without symbols. The running program
	// keeps the file that is replaced.
	c := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", file+".new", ".")
	c.Dir, c.WaitDelay = l.Folder, time.Second
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it removes its files
	out, err := c.CombinedOutput()
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		if ctx.Err() == nil {
			_, _ = l.Stderr.Write(out)
		}
		return "", &failure{"The program can't be built", cleantext.Text(string(out)) + "\n" + err.Error()}
	}
	l.Say("built in %s", time.Since(start).Round(10*time.Millisecond))
	return file, nil
}

// showUntilChange serves a failure until the source changes.
func (l *Loop) showUntilChange(ctx context.Context, why *failure, w *watcher, seen state) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	failed := make(chan struct{})
	go func() {
		err := why.serve(ctx, l.Addr)
		served <- err
		if err != nil {
			close(failed)
		}
	}()
	w.waitForChange(ctx, seen, true, failed)
	cancel()
	if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// A process is the running program. A nil process has ended.
type process struct {
	cmd   *exec.Cmd
	log   *tail
	ended chan struct{}
}

// start starts the program.
func (l *Loop) start(file string) (*process, error) {
	p := &process{exec.Command(file, l.Args...), new(tail), make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = l.Stdout, io.MultiWriter(l.Stderr, p.log)
	if l.Stdin != nil {
		p.cmd.Stdin = l.Stdin
	}
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // status says how it ended
	}()
	return p, nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// status says how the program ended.
func (p *process) status() string { return p.cmd.ProcessState.String() }

// stop ends the program and waits until it has ended. Once ctx has ended, it gives the
// program a moment: a terminal sends its signal to both, and a second one ends the program
// without letting its tools end.
func (p *process) stop(ctx context.Context) {
	if p == nil || p.hasEnded() {
		return
	}
	if ctx.Err() != nil {
		select {
		case <-p.ended:
			return
		case <-time.After(signalPause):
		}
	}
	if p.cmd.Process.Signal(os.Interrupt) != nil { // as on Windows
		_ = p.cmd.Process.Kill()
	}
	kill := time.AfterFunc(stopTimeout, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	<-p.ended
}

// maxTail is how much of the program's log a failure shows, in bytes.
const maxTail = 8 << 10

// A tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - maxTail; extra > 0 {
		t.text = bytes.Clone(t.text[extra:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cleantext.Text(string(t.text))
}
