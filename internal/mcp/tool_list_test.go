package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/generators"
)

// A client that reads the list of tools page by page misses none that was there all the time,
// though others go meanwhile.
func TestToolsOfAListThatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 1200
		var photons []*generators.Photon
		for i := range count {
			photons = append(photons, generators.New(fmt.Sprintf("tool%04d", i), func(context.Context, none, generators.Yield) (string, error) { return "", nil }, nil))
		}
		b := newTestServer(t, photons...)
		w := b.connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		seen := make(map[string]int)
		cursor := ""
		for pages := 0; pages == 0 || cursor != ""; pages++ {
			w.sendLine(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"cursor":%q}}`, pages+1, cursor)
			var page struct {
				Result struct {
					Tools      []struct{ Name string }
					NextCursor string
				}
			}
			if err := json.Unmarshal([]byte(w.awaitResponse(pages+1)), &page); err != nil {
				t.Fatal(err)
			}
			cursor = page.Result.NextCursor
			for _, tool := range page.Result.Tools {
				seen[tool.Name]++
			}
			if pages == 0 { // also the last one of the page
				for _, tool := range page.Result.Tools[len(page.Result.Tools)-3:] {
					b.photons.Remove(tool.Name)
				}
				b.photons.Remove("tool0000")
				synctest.Wait()
			}
		}
		for i := range count {
			if name := fmt.Sprintf("tool%04d", i); seen[name] != 1 {
				t.Errorf("%s is listed %d times", name, seen[name])
			}
		}
	})
}
