package mcp_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

func TestInfiniteProgressEndsNothing(t *testing.T) {
	huge := generators.New("huge", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		yield(generators.Progress(math.MaxFloat64, 0, ""))
		yield(generators.Status("and on"))
		yield(generators.Progress(math.Inf(1), 0, ""))
		yield(generators.Progress(math.NaN(), 0, ""))
		return "done", nil
	}, nil)
	w := newTestServer(t, huge).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"huge","_meta":{"progressToken":1}}}`)
	w.nextLine()
	if got := w.nextLine(); !strings.Contains(got, `"done"`) {
		t.Errorf("the call ends with %s", got)
	}
}

func TestTokensAreStringsOrNumbers(t *testing.T) {
	w := newTestServer(t, helloPhoton).connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	for token, want := range map[string]string{
		`null`: `"method":"notifications/message"`, `{"a":1}`: `"code":-32602`, `true`: `"code":-32602`,
		`"` + strings.Repeat("x", 2000) + `"`: `"code":-32602`,
	} {
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"},"_meta":{"progressToken":%s}}}`, token)
		got := w.nextLine()
		if !strings.Contains(got, want) || strings.Contains(got, "progressToken\":null") {
			t.Errorf("the token %.20s gets the response %s", token, got)
		}
		for !strings.Contains(got, `"id":1`) {
			got = w.nextLine()
		}
	}
}

func TestNotificationGetsNoResponse(t *testing.T) {
	w := newTestServer(t, helloPhoton).connectStdio(t)
	w.sendLine(`{"jsonrpc":"2.0","method":"notifications/initialized","params":[1]}`)
	w.sendLine(`{"jsonrpc":"2.0","method":"tools/list","params":{"_meta":7}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	w.expectLine(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}

// A client that reads nothing does not keep the server from noticing the end of its
// input, nor from ending.
func TestClientThatReadsNothingCanEnd(t *testing.T) {
	r := newTestServer(t, helloPhoton)
	inR, inW := io.Pipe()
	_, outW := io.Pipe() // nobody reads
	done := make(chan error, 1)
	go func() {
		done <- r.ServeStdio(t.Context(), inR, outW, operator, func() (string, error) { return pagesOrigin, nil })
	}()
	for i := range 50 {
		fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"w","version":"1"}}}`+"\n", i)
		fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":"h%d","method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"}}}`+"\n", i)
		fmt.Fprintln(inW, `{`)
	}
	inW.Close()
	select {
	case <-done:
	case <-time.After(programtest.ExitTimeout):
		t.Error("the server goes on though its input has ended")
	}
	outW.Close()
}

// After a call was cancelled, its client receives nothing more of it except the
// withdrawal of its question.
func TestCancelledCallSendsNothingMore(t *testing.T) {
	begun := make(chan struct{})
	talker := generators.New("talker", func(ctx context.Context, _ none, yield generators.Yield) (string, error) {
		for i := range 5000 {
			yield(generators.Statusf("%d %s", i, strings.Repeat("x", 2000)))
		}
		close(begun)
		<-ctx.Done()
		return "", ctx.Err()
	}, nil)
	r := newTestServer(t, talker)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- r.ServeStdio(t.Context(), inR, outW, operator, func() (string, error) { return pagesOrigin, nil })
		outW.Close()
	}()
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"w","version":"1"}}}`)
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"talker","_meta":{"progressToken":1}}}`)
	<-begun
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	batches, err := r.engine.Follow(t.Context(), operator, must(r.engine.Runs(operator, 0, nil))[0].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range batches { // to the end of the run, which the cancel brings
		if err != nil {
			t.Fatal(err)
		}
	}
	inW.Close()
	raw, err := io.ReadAll(outR)
	if err != nil || <-done != nil {
		t.Fatal(err)
	}
	// Of ten megabytes, four were queued when the call was cancelled. The rest
	// must not follow.
	if told := strings.Count(string(raw), "notifications/progress"); told > 4000 || strings.Contains(string(raw), `"id":1,`) {
		t.Errorf("%d notifications were sent, and perhaps a response", told)
	}
}

func TestInitializeStandsAlone(t *testing.T) {
	v := newHTTPClient(t, newTestServer(t, helloPhoton).startHTTPServer(t).URL, "2025-03-26", `{}`)
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"v","version":"1"}}}`
	r := v.postMessage(`[` + initialize + `]`)
	raw, _ := io.ReadAll(r.Body)
	r.Body.Close()
	if !strings.Contains(string(raw), `"code":-32600`) {
		t.Errorf("initialize within a batch gets the response %s", raw)
	}
	nobody := &httpClient{t: t, url: v.url, ctx: t.Context()}
	for name, r := range map[string]*http.Response{
		"as a notification":       nobody.postMessage(strings.Replace(initialize, `"id":1,`, "", 1)),
		"with nothing acceptable": nobody.postMessage(initialize, "Accept", "text/html"),
	} {
		r.Body.Close()
		if r.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("initialize %s begins a session: %s", name, r.Status)
		}
	}
	r = v.sendRequest(http.MethodDelete, "", "MCP-Protocol-Version", "2026-07-28")
	r.Body.Close()
	if r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a modern DELETE gets the response %s, want 405", r.Status)
	}
}

func TestDeclinedPageIsNotComplete(t *testing.T) {
	w := newTestServer(t, askingPhoton("secret", ask.ForSecret("key", "The key?"))).connectStdio(t)
	w.initialize("2025-11-25", `{"elicitation":{"url":{}}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}`)
	w.sendLine(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, jsonMember(t, w.nextLine(), "id"))
	if got := w.nextLine(); !strings.Contains(got, `"isError":true`) {
		t.Errorf("after a decline comes %s, want the call's end", got)
	}
}

func TestToolErrorIsNotHidden(t *testing.T) {
	brave := generators.New("brave", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		if _, err := ask.Text(yield, "word", "Which word?"); err == nil {
			return "", nil
		}
		return "", fmt.Errorf("the disk is full")
	}, nil)
	w := newTestServer(t, brave).connectStdio(t)
	w.callModern(1, "brave", `{}`)
	if got := w.nextLine(); !strings.Contains(got, "the disk is full") {
		t.Errorf("the tool failed by itself, and the client reads %s", got)
	}
}

func TestAllMissingCapabilitiesAreNamed(t *testing.T) {
	both := generators.New("both", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		var word, key string
		return "", ask.All(yield, ask.ForText("word", "Which word?").Into(&word), ask.ForSecret("key", "The key?").Into(&key))
	}, nil)
	w := newTestServer(t, both).connectStdio(t)
	w.callModern(1, "both", `{}`)
	if got := jsonMember(t, w.nextLine(), "error", "data", "requiredCapabilities"); got != `{"elicitation":{"form":{},"url":{}}}` {
		t.Errorf("the missing capabilities are %s", got)
	}
}

func TestConcurrentlyAddedToolsAreAllListed(t *testing.T) {
	for range 20 {
		r := newTestServer(t)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				p := generators.New(fmt.Sprint("tool", i), func(context.Context, none, generators.Yield) (string, error) { return "", nil }, nil)
				if err := r.photons.Add(p); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w := r.connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		for {
			got := w.nextLine()
			if strings.Contains(got, "list_changed") {
				continue
			}
			if n := strings.Count(got, `"name":"tool`); n != 8 {
				t.Fatalf("%d tools are listed, want 8", n)
			}
			break
		}
		w.closeAndWait()
	}
}
