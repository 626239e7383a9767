package dev

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A program that serves as one of photons does, as far as the loop can tell.
const program = `package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
)

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	server := &http.Server{Addr: os.Args[2], Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/crash" {
			println("a bug")
			os.Exit(3)
		}
		w.Write([]byte(%q))
	})}
	go server.ListenAndServe()
	<-ctx.Done()
}
`

// The program is built again at each change; while it can't be, or once it has ended, pages
// say why, and those that are open load themselves again.
func TestLoop(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example\n\ngo 1.24\n")
	write("main.go", fmt.Sprintf(program, "the first"))
	addr := programtest.FreeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	l := Loop{Folder: folder, Addr: addr, Args: []string{"--addr", addr}, Stdout: t.Output(), Stderr: t.Output(), Say: t.Logf}
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if res, err := http.Get("http://" + addr); err == nil {
			res.Body.Close()
			t.Error("the program still runs")
		}
	}()

	waitFor(t, addr, "text/html", "the first")
	write("main.go", "package main\n\nfunc main() { <oops> }\n")
	waitFor(t, addr, "text/html", `The program can&#39;t be built`, "main.go:3:15: syntax error", "&lt;")
	waitFor(t, addr, "*/*", "The program can't be built\n")
	waitFor(t, addr, "text/event-stream", "window.location.reload()")
	write("main.go", fmt.Sprintf(program, "the second"))
	waitFor(t, addr, "text/html", "the second")
	if res, err := http.Get("http://" + addr + "/crash"); err == nil {
		res.Body.Close()
	}
	waitFor(t, addr, "text/html", "The program ended", "a bug", "exit status 3")
	write("more.go", "package main\n")
	waitFor(t, addr, "text/html", "the second")
}

// Pages of other sites whose name leads to this machine can't read a failure.
func TestFailureNeedsLocalHost(t *testing.T) {
	addr := programtest.FreeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- failure{"Title", "secret"}.serve(ctx, addr) }()
	defer func() { cancel(); <-served }()
	waitFor(t, addr, "text/html", "secret")
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr, nil)
	req.Host = "attacker.example"
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusForbidden || strings.Contains(string(body), "secret") {
		t.Errorf("%s: %s", res.Status, body)
	}
}

func TestLoopRefuses(t *testing.T) {
	l := Loop{Folder: filepath.Join(t.TempDir(), "missing"), Addr: "127.0.0.1:1", Say: t.Logf}
	if err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Error(err)
	}
}

// waitFor waits until a response has all texts.
func waitFor(t *testing.T, addr, accept string, texts ...string) {
	t.Helper()
	var last string
	hasAll := func() bool {
		last = get(t, addr, accept)
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(last, text) })
	}
	if !programtest.Poll(hasAll) {
		t.Fatalf("no %q in: %s", texts, last)
	}
}

func get(t *testing.T, addr, accept string) string {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Accept", accept)
	if accept == "text/event-stream" {
		req.Header.Set("Datastar-Request", "true")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return string(body)
}
