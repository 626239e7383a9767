package crash

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A program is a process of Beam that is killed and restarted at the same address.
type program struct {
	t         testing.TB
	bin, data string
	args      []string // further flags
	addr      string
	cmd       *exec.Cmd
}

func TestMain(m *testing.M) {
	var err error
	if bins, err = os.MkdirTemp("", "beam-crash-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(bins)
	os.Exit(status)
}

// bins is the folder for the built program.
var bins string

// builder returns a function that builds a program, once for all tests, and returns its
// path.
func builder(name, path string, flags ...string) func(testing.TB) string {
	build := sync.OnceValues(func() (bin string, err error) {
		bin = filepath.Join(bins, name)
		if out, err := exec.Command("go", slices.Concat([]string{"build"}, flags, []string{"-o", bin, path})...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return bin, nil
	})
	return func(t testing.TB) string {
		t.Helper()
		bin, err := build()
		if err != nil {
			t.Fatal(err)
		}
		return bin
	}
}

// buildProgram builds Beam, and buildPhotons the program with the photons that pause.
var (
	buildProgram = builder("beam", "github.com/photon-beam/beam/cmd/beam")
	buildPhotons = builder("photons", "./photons")
)

func (p *program) start() {
	p.t.Helper()
	if p.addr == "" { // kept for restarts, so none that others may get meanwhile
		p.addr = programtest.FreeAddress(p.t)
	}
	var err error
	for !programtest.Poll(func() bool { err = p.tryStart(); return !errors.Is(err, errFolderInUse) }) {
		p.t.Log("a backup of a large folder takes its time")
	}
	if err != nil {
		p.t.Fatal("the program didn't start:", err)
	}
}

// errFolderInUse means that another process, such as one that writes a backup, has the folder.
var errFolderInUse = errors.New("the data folder is in use")

func (p *program) tryStart() error {
	messages := programtest.NewConsole()
	p.cmd = exec.Command(p.bin, append([]string{"--addr", p.addr, "--data", p.data, "--log-level", "error"}, p.args...)...)
	p.cmd.Stderr = io.MultiWriter(p.t.Output(), messages)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		p.cmd.Wait()
		if strings.Contains(messages.String(), "is in use by another Beam") {
			return errFolderInUse
		}
		return fmt.Errorf("it printed nothing: %w", err)
	}
	go io.Copy(io.Discard, out)
	return nil
}

func (p *program) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}
