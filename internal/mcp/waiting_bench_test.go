package mcp_test

import (
	"runtime"
	"testing"

	"github.com/photon-beam/beam/ask"
)

// BenchmarkWaitingCall measures the memory, heap and stacks, of each of ten thousand
// calls that wait for an answer over stdio.
func BenchmarkWaitingCall(b *testing.B) {
	const n = 10_000
	held := func() (heap, stack uint64) {
		for range 5 { // a stack shrinks by half each time
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, m.StackInuse
	}
	for b.Loop() {
		w := newTestServer(b, askingPhoton("word", ask.ForText("word", "Which word?"))).connectStdio(b)
		w.initialize("2025-11-25", `{"elicitation":{}}`)
		heap, stack := held()
		go func() {
			for i := range n {
				w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"word"}}`, i)
			}
		}()
		for range n {
			w.nextLine()
		}
		heapThen, stackThen := held()
		b.ReportMetric(float64(heapThen-heap)/n, "heap-B/call")
		b.ReportMetric(float64(stackThen-stack)/n, "stack-B/call")
		w.closeAndWait()
	}
	b.ReportMetric(0, "ns/op")
}
