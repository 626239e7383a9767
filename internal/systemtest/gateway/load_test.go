package gateway_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

func containsText(message []byte, text string) bool { return bytes.Contains(message, []byte(text)) }

// Ten sessions have 100 calls each that ask at once. All are answered, each with its own
// answer.
func TestThousandQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	sessions, calls := 10, 100
	if testing.Short() {
		calls = 20
	}
	g := startGateway(t, map[string]upstream{"test": testServer(t)})
	var all sync.WaitGroup
	for i := range sessions {
		// The person waits until all calls of the session have asked.
		var asked sync.WaitGroup
		asked.Add(calls)
		session := g.connect("2025-11-25", func(p *mcp.ElicitParams) *mcp.ElicitResult {
			asked.Done()
			asked.Wait()
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": p.Message}}
		})
		awaitTools(t, session, "test__ask_anything")
		for j := range calls {
			all.Go(func() {
				message := fmt.Sprintf("This is call %d of session %d.", j, i)
				got, failed := call(t, session, 2*programtest.WaitTimeout, "test__ask_anything", map[string]any{"params": map[string]any{
					"message": message, "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
				}})
				if failed || !strings.Contains(got, message) {
					t.Errorf("%q has the result %s", message, got)
				}
			})
		}
	}
	all.Wait()
}

// The memory of a gateway doesn't grow with the number of its calls, but with that of the
// finished runs that it keeps.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	const calls = 100_000
	l := startThroughGateway(t, "--keep-all", "100", "--keep-each", "100")
	l.awaitTool("test__content_text")
	callMany := func(n int) {
		const atOnce = 50
		for done := 0; done < n; done += atOnce {
			for range atOnce {
				l.begin("test__content_text")
			}
			for range atOnce {
				l.expectResult(l.next(), "A text.")
			}
		}
	}
	const retentionInterval = 15 * time.Second // of the engine; meanwhile finished runs add up
	callMany(calls / 2)
	time.Sleep(retentionInterval + time.Second) // another process deletes them
	half := l.residentMemory()
	callMany(calls / 2)
	time.Sleep(retentionInterval + time.Second) // another process deletes them
	whole := l.residentMemory()
	t.Logf("after %d calls %d MB, after %d calls %d MB", calls/2, half>>20, calls, whole>>20)
	if whole > half*5/4+8<<20 {
		t.Errorf("the memory grew from %d to %d MB", half>>20, whole>>20)
	}
}
