//go:build linux || darwin

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// TestFewDescriptors has a thousand clients send requests without an end to a Beam that can
// open 64 files: most get status 503, and the log goes on.
func TestFewDescriptors(t *testing.T) {
	beam, err := exec.LookPath("beam")
	if err != nil {
		t.Fatal(err)
	}
	console := programtest.NewConsole()
	p := startProgram(t, func(c *exec.Cmd) { c.Stdout = console }, "sh", "-c", "ulimit -n 64; exec "+beam+" serve --data "+t.TempDir()+" --addr 127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), programtest.WaitTimeout)
	defer cancel()
	base, err := console.WaitForBaseURL(ctx)
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	start := func() (run struct{ ID string }, err error) {
		r, err := client.Post(base+"/photons/countdown/runs", "application/json", strings.NewReader(`{"seconds":2}`))
		if err != nil {
			return run, err
		}
		defer r.Body.Close()
		if r.StatusCode != http.StatusCreated {
			return run, fmt.Errorf("starting: %s", r.Status)
		}
		return run, json.NewDecoder(r.Body).Decode(&run)
	}
	before, err := start()
	if err != nil {
		t.Fatal(err)
	}
	client.CloseIdleConnections()

	flood, stop := context.WithCancel(ctx)
	refused := make(chan struct{}, 1000)
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			for flood.Err() == nil {
				if isRefused(flood, strings.TrimPrefix(base, "http://")) {
					refused <- struct{}{}
					return
				}
			}
		})
	}
	for n := range 900 {
		select {
		case <-refused:
		case <-ctx.Done():
			t.Fatalf("%d of 1,000 clients were refused with status 503", n)
		}
	}
	stop()
	all.Wait()
	for { // once Beam has noticed that they are gone
		run, err := start()
		if err == nil && run.ID != "" {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("no run can be started: %v", err)
		}
	}
	for state := ""; state != "completed"; { // the log took its events meanwhile
		var info struct{ State string }
		r, err := client.Do(withHeader(must(http.NewRequestWithContext(ctx, http.MethodGet, base+"/runs/"+before.ID, nil)), "Accept", "application/json"))
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(r.Body).Decode(&info)
		r.Body.Close()
		if r.StatusCode == http.StatusServiceUnavailable {
			continue // it has yet to notice that some are gone
		}
		if state = info.State; err != nil || state != "running" && state != "completed" {
			t.Fatalf("the run before is %q, %v", state, err)
		}
	}
	if log := p.console.String(); strings.Contains(log, "too many open files") {
		t.Errorf("it ran out of descriptors:\n%s", log)
	}
}

// isRefused sends a request without an end, and reports whether the response is status 503.
// Otherwise it returns when the connection ends, or ctx does.
func isRefused(ctx context.Context, address string) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n") // and no body
	response := bufio.NewReader(conn)
	line, _ := response.ReadString('\n')
	_, _ = io.Copy(io.Discard, response)
	return strings.Contains(line, " 503 ")
}

func withHeader(r *http.Request, name, value string) *http.Request {
	r.Header.Set(name, value)
	return r
}
