package mcp_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
)

// BenchmarkAskOverStdio measures one call that asks, from request to result, over OS
// pipes. It also reports Beam's share of that time, including the pipes: from the
// request to the question, and from the answer to the result.
func BenchmarkAskOverStdio(b *testing.B) {
	r := newTestServer(b, askingPhoton("word", ask.ForText("word", "Which word?")))
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.ServeStdio(b.Context(), inR, outW, operator, nil) }()
	out := bufio.NewReader(outR)
	read := func() string {
		line, err := out.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		return line
	}
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"b","version":"1"}}}`)
	read()
	var shares []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begun := time.Now()
		fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","arguments":{}}}`)
		question := read()
		share := time.Since(begun)
		begun = time.Now()
		fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`+"\n", question[len(`{"jsonrpc":"2.0","id":`):len(`{"jsonrpc":"2.0","id":`)+36])
		read()
		shares = append(shares, share+time.Since(begun))
	}
	b.StopTimer()
	slices.Sort(shares)
	for _, q := range []float64{.5, .99} {
		b.ReportMetric(shares[int(q*float64(len(shares)-1))].Seconds()*1e6, fmt.Sprintf("share-p%.0f-µs", q*100))
	}
	inW.Close()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
