package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
)

// BenchmarkWaitingTask measures the memory of ten thousand tasks that wait for an
// answer over HTTP, with no request open, and how long tasks/get takes meanwhile.
func BenchmarkWaitingTask(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		r := newTestServer(b, askingPhoton("word", ask.ForText("word", "Which word?")))
		s := r.startHTTPServer(b)
		v := newHTTPClient(b, s.URL, "2025-11-25", `{}`)
		transport := &http.Transport{MaxIdleConnsPerHost: 4}
		client := &http.Client{Transport: transport}
		post := func(body string) []byte {
			q, err := http.NewRequest(http.MethodPost, v.url, strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			q.Header.Set("Content-Type", "application/json")
			q.Header.Set("Mcp-Session-Id", v.session)
			answer, err := client.Do(q)
			if err != nil {
				b.Fatal(err)
			}
			defer answer.Body.Close()
			raw, err := io.ReadAll(answer.Body)
			if err != nil {
				b.Fatal(err)
			}
			return raw
		}
		post(`{"jsonrpc":"2.0","id":"warm","method":"tools/call","params":{"name":"word","task":{}}}`)
		before, goroutines := heldMemory(), runtime.NumGoroutine()

		ids := make([]string, n)
		var all sync.WaitGroup
		for part := range 4 {
			all.Go(func() {
				for i := part; i < n; i += 4 {
					raw := post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"word","task":{}}}`, i))
					var created struct {
						Result struct {
							TaskID string
						}
					}
					if err := json.Unmarshal(raw, &created); err != nil || created.Result.TaskID == "" {
						b.Errorf("a task is created with %s", raw)
						return
					}
					ids[i] = created.Result.TaskID
				}
			})
		}
		all.Wait()
		for must(r.engine.CountOpenAsks(operator)) < n { // the machine may be busy
			runtime.Gosched()
		}
		cost := heldMemory() - before
		if runtime.NumGoroutine()-goroutines > n+20 {
			b.Errorf("%d goroutines for %d tasks: their generators wait, and nothing else may", runtime.NumGoroutine()-goroutines, n)
		}

		// Pings in between measure the machine and the transport.
		took, ping := make([]time.Duration, n), make([]time.Duration, n)
		for i, id := range ids {
			begun := time.Now()
			post(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ping %d","method":"ping"}`, i))
			ping[i] = time.Since(begun)
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tasks/get","params":{"taskId":%q}}`, i, id)
			begun = time.Now()
			raw := post(body)
			took[i] = time.Since(begun)
			if !bytes.Contains(raw, []byte(`"input_required"`)) {
				b.Fatalf("a task is %s", raw)
			}
		}
		slices.Sort(took)
		slices.Sort(ping)
		b.ReportMetric(float64(cost)/n, "B/task")
		b.ReportMetric(float64(took[n/2].Microseconds()), "get-p50-µs")
		b.ReportMetric(float64(took[n*99/100].Microseconds()), "get-p99-µs")
		b.ReportMetric(float64(ping[n/2].Microseconds()), "ping-p50-µs")
		b.ReportMetric(float64(ping[n*99/100].Microseconds()), "ping-p99-µs")
		transport.CloseIdleConnections()
		for _, id := range ids {
			if err := r.engine.Cancel(b.Context(), operator, id, "browser"); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

// heldMemory returns the process's heap and stacks, in bytes.
func heldMemory() uint64 {
	for range 5 { // a stack shrinks by half each time
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
