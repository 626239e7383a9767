package crash

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/programtest"
)

// A program is a process of Beam that is killed and restarted at the same address.
type program struct {
	t         *testing.T
	bin, data string
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
func builder(name, path string) func(*testing.T) string {
	build := sync.OnceValues(func() (bin string, err error) {
		bin = filepath.Join(bins, name)
		if out, err := exec.Command("go", "build", "-o", bin, path).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return bin, nil
	})
	return func(t *testing.T) string {
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
	p.cmd = exec.Command(p.bin, "--addr", p.addr, "--data", p.data, "--log-level", "error")
	p.cmd.Stderr = p.t.Output()
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		p.t.Fatal("the program printed nothing:", err)
	}
	go io.Copy(io.Discard, out)
}

func (p *program) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}
