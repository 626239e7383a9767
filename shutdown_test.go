package beam_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

func TestShutdownEndsEverything(t *testing.T) {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	before := runtime.NumGoroutine()
	for _, data := range []string{"", t.TempDir()} {
		b, err := beam.New(beam.Config{Photons: []*generators.Photon{greet}, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(b)
		p := newBrowser(t, s.URL)
		run := p.start("/photons/greet/runs")
		openQuestion(p, run)
		followed := make(chan string, 1)
		go func() { _, events := p.do("GET", run.Events, ""); followed <- events }()
		in, inWriter := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- b.ServeStdio(context.Background(), in, io.Discard) }()
		fmt.Fprintln(inWriter, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)

		shutDown(t, b)
		shutDown(t, b) // again does nothing
		if err := <-served; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		inWriter.Close()
		<-followed
		if res, _ := p.do("GET", "/", ""); res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("after Shutdown: %s", res.Status)
		}
		if err := b.ServeStdio(context.Background(), strings.NewReader(""), io.Discard); err == nil {
			t.Error("ServeStdio serves after Shutdown")
		}
		p.CloseIdleConnections()
		s.Close()
		if data != "" {
			continueRun(t, data, p, run)
		}
	}
	if !programtest.Poll(func() bool { return runtime.NumGoroutine() <= before }) {
		stacks := make([]byte, 1<<20)
		t.Fatalf("%d goroutines are left of %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	}
}

// continueRun opens a Beam on the folder of an earlier one, and answers a run's question as
// the browser that started it.
func continueRun(t *testing.T, data string, p *browser, run started) {
	t.Helper()
	b, err := beam.New(beam.Config{Photons: []*generators.Photon{greet}, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	defer shutDown(t, b)
	s := httptest.NewServer(b)
	defer s.Close()
	defer p.CloseIdleConnections()
	p.url = s.URL
	answerText(p, run, "Ada")
}

// Shutdown waits for what works, at most until its context ends.
func TestShutdownIsBounded(t *testing.T) {
	var once sync.Once
	working, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	busy := generators.New("busy", func(ctx context.Context, _ struct{}, _ generators.Yield) (string, error) {
		once.Do(func() { close(working) })
		select {
		case <-ctx.Done():
		case <-release:
		}
		return "", ctx.Err()
	}, nil)
	b, err := beam.New(beam.Config{Photons: []*generators.Photon{busy}})
	if err != nil {
		t.Fatal(err)
	}
	newBrowser(t, serve(t, b)).start("/photons/busy/runs")
	<-working
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := b.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	if took := time.Since(start); took > programtest.ExitTimeout {
		t.Errorf("Shutdown took %s", took)
	}
}
