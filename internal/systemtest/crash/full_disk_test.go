//go:build linux

package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/store/sqlite"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A smallDisk is a program with its data on a file system of a few megabytes, which is
// mounted only for the program and its children.
type smallDisk struct {
	*program
	shell *exec.Cmd // keeps the file system mounted
	stdin io.WriteCloser
	out   *bufio.Reader
	warns *programtest.Console
}

// mountScript mounts the file system and runs the program whenever it reads a
// line. It first prints the program's process id.
const mountScript = `mount -t tmpfs -o size=$1,mode=0700 beam-test "$2" || exit 3
shift 2; echo mounted
while read -r _; do "$@" & echo $!; wait; echo ended; done`

// newSmallDisk starts the script in a mount namespace of its own and, unless we
// are root, in a user namespace of its own.
func newSmallDisk(t *testing.T, bin, size string) *smallDisk {
	t.Helper()
	data := t.TempDir()
	p := &program{t: t, bin: bin, data: data}
	shell := exec.Command("/bin/sh", "-c", mountScript, "sh", size, data,
		p.bin, "--addr", "127.0.0.1:0", "--data", data, "--log-level", "warn")
	shell.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		shell.SysProcAttr.Unshareflags |= syscall.CLONE_NEWUSER
		shell.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		shell.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	warns := programtest.NewConsole()
	shell.Stderr = io.MultiWriter(t.Output(), warns)
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Skip("can't create a mount namespace:", err)
	}
	d := &smallDisk{program: p, shell: shell, stdin: stdin, out: bufio.NewReader(out), warns: warns}
	t.Cleanup(func() {
		stdin.Close()
		shell.Wait()
	})
	if line, err := d.out.ReadString('\n'); line != "mounted\n" {
		t.Skipf("no small file system can be mounted here: %q, %v", line, err)
	}
	p.data = filepath.Join("/proc", fmt.Sprint(shell.Process.Pid), "root", data)
	return d
}

// startProgram starts the program and returns a function that stops it.
func (d *smallDisk) startProgram() (end func()) {
	d.t.Helper()
	fmt.Fprintln(d.stdin)
	var pid int
	if _, err := fmt.Fscanln(d.out, &pid); err != nil {
		d.t.Fatal("the program didn't start:", err)
	}
	end = func() {
		if pid != 0 {
			syscall.Kill(pid, syscall.SIGTERM)
			d.expectLine("ended")
			pid = 0
		}
	}
	d.t.Cleanup(end)
	d.addr = d.expectLine("Beam listens on http://")
	d.expectLine("To sign in as its operator")
	return end
}

// expectLine returns the rest of the next line, which must begin with a text.
func (d *smallDisk) expectLine(begin string) string {
	d.t.Helper()
	line, err := d.out.ReadString('\n')
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), begin)
	if !ok || err != nil {
		d.t.Fatalf("the program printed %q, %v; want %q", line, err, begin)
	}
	return rest
}

// fillDisk fills the disk except for a number of free bytes.
func (d *smallDisk) fillDisk(free int64) {
	d.t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.data, &s); err != nil {
		d.t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(d.data, "ballast"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = f.Write(make([]byte, max(0, int64(s.Bavail)*s.Bsize-free)))
	if err := errors.Join(err, f.Close()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *smallDisk) removeBallast() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.data, "ballast")); err != nil {
		d.t.Fatal(err)
	}
}

// doOnce makes a request without retrying and returns its status and body.
func (c *client) doOnce(method, path, body string, header ...string) (int, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://"+c.program.addr+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

// startRun starts a run and returns its id.
func (c *client) startRun(photon, args string) string {
	c.t.Helper()
	status, body := c.doOnce("POST", "/photons/"+photon+"/runs", args)
	var started struct{ ID string }
	if json.Unmarshal([]byte(body), &started); status != http.StatusCreated {
		c.t.Fatalf("starting %s: %d %s", photon, status, body)
	}
	return started.ID
}

// runState returns a run's state and its first open question.
func (c *client) runState(id string) (state string, last int, ask string) {
	c.t.Helper()
	status, body := c.doOnce("GET", "/runs/"+id, "", "Accept", "application/json")
	var info struct {
		State string
		Last  int
		Asks  []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(body), &info); status != http.StatusOK || err != nil {
		c.t.Fatalf("run %s: %d %s, %v", id, status, body, err)
	}
	if len(info.Asks) > 0 {
		ask = info.Asks[0].ID
	}
	return info.State, info.Last, ask
}

func (c *client) waitUntil(what string, there func() bool) {
	c.t.Helper()
	if !programtest.Poll(there) {
		_, runs := c.doOnce("GET", "/runs", "", "Accept", "application/json")
		c.t.Fatalf("not %s: %s", what, runs)
	}
}

// checkRefused checks that requests on a full disk are rejected with messages that say
// why.
func (c *client) checkRefused(what string, status int, body string) {
	c.t.Helper()
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "disk is full") || !strings.Contains(body, "16 MiB free") {
		c.t.Errorf("%s on a full disk: %d %.200q", what, status, body)
	}
}

// waitForStall waits until writes are stalled because the disk is full.
func (d *smallDisk) waitForStall() {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	if _, err := d.warns.WaitForLine(ctx, "runs are stalled"); err != nil {
		d.t.Fatal(err)
	}
}

// The disk becomes full while a tool reports events, a question is open and a file is
// being uploaded. New runs, answers and files are rejected with messages that say why,
// and the tool waits. When there is space again, everything continues, even in a
// program that was started while the disk was full.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	bin := buildProgram(t)
	for _, restart := range []bool{false, true} {
		t.Run(map[bool]string{false: "in one process", true: "over a restart"}[restart], func(t *testing.T) {
			testFullDisk(t, bin, restart)
		})
	}
}

const minFree = 16 << 20 // bytes that Beam leaves free

func testFullDisk(t *testing.T, bin string, restart bool) {
	d := newSmallDisk(t, bin, "64m")
	end := d.startProgram()
	c := newClient(t, d.program)
	const events = 100_000 // about 5 MB
	wizard, table := c.startRun("wizard", "{}"), c.startRun("explore_csv", "{}")
	asked, file := c.waitForAsk(wizard), c.waitForAsk(table)
	d.fillDisk(minFree + 1<<20)
	burst := c.startRun("burst", fmt.Sprintf(`{"events":%d}`, events))
	d.waitForStall()
	d.fillDisk(minFree) // too little for a batch may be enough for a start
	var status int
	var body string
	c.waitUntil("refused", func() bool { // until the program checks the disk again
		status, body = c.doOnce("POST", "/photons/wizard/runs", "{}")
		return status != http.StatusCreated
	})
	c.checkRefused("a start", status, body)
	_, before, _ := c.runState(burst)
	status, body = c.doOnce("GET", "/readyz", "")
	c.checkRefused("readiness", status, body)
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":%s}}`, asked, answers["name"])
	status, body = c.doOnce("POST", "/mcp/request", answer)
	c.checkRefused("an answer", status, body)
	status, body = c.uploadFile(file, 8<<20)
	c.checkRefused("a file", status, body)
	if state, last, _ := c.runState(burst); state != "running" || last != before || last >= events {
		t.Errorf("the stalled tool is %s, at entry %d and then %d", state, before, last)
	}
	if c.waitForAsk(wizard) != asked || c.waitForAsk(table) != file {
		t.Error("a question is no longer open")
	}
	if restart {
		end()
		end = d.startProgram()
		c.program = d.program
		c.waitUntil("refused", func() bool { // the end has freed the space of the write-ahead log
			d.fillDisk(minFree)
			status, body = c.doOnce("POST", "/photons/wizard/runs", "{}")
			return status != http.StatusCreated
		})
		c.checkRefused("a start after a restart", status, body)
	}

	d.removeBallast()
	c.waitUntil("ready", func() bool { status, _ := c.doOnce("GET", "/readyz", ""); return status == http.StatusOK })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	results := map[string]string{wizard: c.waitForResult(ctx, wizard)}
	if result := c.waitForResult(ctx, burst); !strings.Contains(result, fmt.Sprint(events)) {
		t.Errorf("burst = %s", result)
	}
	if !restart { // the question about the file ends with the process
		if status, body = c.uploadFile(file, 8<<20); status != http.StatusAccepted {
			t.Errorf("the file, with space for it: %d %.200q", status, body)
		}
		c.waitUntil("read", func() bool { _, last, _ := c.runState(table); return last > 4 })
	}
	end()
	copied := t.TempDir() // SQLite resolves the link in d.data, which leads out of the mount there
	if err := sqlite.CopyFiles(d.data, copied); err != nil {
		t.Fatal(err)
	}
	checkLog(t, copied, results)
}

// waitForAsk waits until a run has an open question.
func (c *client) waitForAsk(id string) (ask string) {
	c.t.Helper()
	c.waitUntil("asked", func() bool { _, _, ask = c.runState(id); return ask != "" })
	return ask
}

// uploadFile uploads a CSV file of a size.
func (c *client) uploadFile(ask string, size int) (status int, body string) {
	c.t.Helper()
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n" +
		"a,b\n" + strings.Repeat("1,2\n", size/4) + "\r\n--b--\r\n"
	return c.doOnce("POST", "/mcp/request?ask="+ask+"&action=accept", form, "Content-Type", "multipart/form-data; boundary=b", "Accept", "application/json")
}

// waitForResult follows a run to its result.
func (c *client) waitForResult(ctx context.Context, id string) (result string) {
	c.t.Helper()
	for last := ""; result == ""; {
		var err error
		if result, last, err = c.followEvents(ctx, "/runs/"+id+"/events", last); err != nil {
			c.t.Fatal(err)
		}
	}
	return result
}
