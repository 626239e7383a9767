package mcp_test

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"github.com/photon-beam/beam/ask"
)

// BenchmarkAskOverStdio is one call that asks, from the request to the result,
// over pipes of the system.
func BenchmarkAskOverStdio(b *testing.B) {
	r := newRig(b, asker("word", ask.ForText("word", "Which word?")))
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
	b.ReportAllocs()
	for b.Loop() {
		fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","arguments":{}}}`)
		question := read()
		fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"fish"}}}`+"\n", question[len(`{"jsonrpc":"2.0","id":`):len(`{"jsonrpc":"2.0","id":`)+36])
		read()
	}
	b.StopTimer()
	inW.Close()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
