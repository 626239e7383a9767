package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// maxFollowersMemory is the most memory, in bytes, of a Beam whose run has a result of 60
// MiB that twenty clients read at once, also while the tool makes it.
const maxFollowersMemory = 200 << 20

// TestFollowersShareALargeResult has twenty clients read a large result at once.
func TestFollowersShareALargeResult(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	console := programtest.NewConsole()
	p := startProgram(t, func(c *exec.Cmd) { c.Stdout = console }, "quarry", "--addr", "127.0.0.1:0", "--data", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	base, err := console.WaitForBaseURL(ctx)
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	r, err := client.Post(base+"/photons/boulder/runs", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	var run struct{ ID, Events string }
	if err := json.NewDecoder(r.Body).Decode(&run); err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r, err := client.Do(must(http.NewRequestWithContext(ctx, http.MethodGet, base+run.Events, nil)))
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			if n, err := io.Copy(io.Discard, r.Body); err != nil || n < 120<<20 { // as text, and structured
				t.Errorf("a client read %d bytes, %v", n, err)
			}
		})
	}
	all.Wait()
	peak := peakMemory(t, p.cmd.Process.Pid)
	t.Logf("at most %d MB resident", peak>>20)
	if peak > maxFollowersMemory {
		t.Errorf("Beam had %d MB resident, want at most %d", peak>>20, maxFollowersMemory>>20)
	}
}

var highWaterMark = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory returns the most memory that a process has had resident, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	kB, err := strconv.ParseInt(string(highWaterMark.FindSubmatch(status)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}
