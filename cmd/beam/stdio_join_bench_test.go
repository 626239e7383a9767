package main

import (
	"fmt"
	"testing"
)

// BenchmarkAsk measures a question over stdio that the client's own process asks,
// and one that the owner asks which the process joined.
func BenchmarkAsk(b *testing.B) {
	for name, joins := range map[string]bool{"direct": false, "joined": true} {
		b.Run(name, func(b *testing.B) {
			data := b.TempDir()
			if joins {
				startServer(b, "--data", data)
			}
			c := startMCPClient(b, "beam", "--data", data)
			c.initialize()
			for i := 0; b.Loop(); i++ {
				id := fmt.Sprint("1", i)
				c.callTool(id, "ask_user_preferences", "{}")
				c.answer(c.waitForMethod("elicitation/create"), `{"outputFormat":"json"}`)
				c.waitForResponse(id)
			}
		})
	}
}
