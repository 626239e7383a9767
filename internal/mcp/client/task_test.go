package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/mcp/client"
	"github.com/photon-beam/beam/internal/testserver"
)

// toolOf returns the definition of a tool.
func toolOf(t *testing.T, s *client.Session, name string) json.RawMessage {
	t.Helper()
	tools, err := s.List(t.Context(), "tools/list", "tools", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if string(rawMember(tool, "name")) == `"`+name+`"` {
			return tool
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

func TestTasksAreFollowed(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			server, err := testserver.New(testserver.Options{Protocol: version})
			if err != nil {
				t.Fatal(err)
			}
			s := connect(t, serveHTTP(t, server), nil)
			for tool, want := range map[string]string{"task_required": "", "task_asking": `\"name\": \"Ada\"`} {
				definition := toolOf(t, s, tool)
				c := s.Call(t.Context(), client.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"` + tool + `","arguments":{}}`), Tool: definition})
				asked := 0
				for e, more := c.Next(); more; e, more = c.Next() {
					if e.Request != nil {
						asked++
						e.Request.Reply(json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`))
					}
				}
				result, err := c.Result()
				if err != nil || !strings.Contains(string(result), want) || want != "" && asked != 1 {
					t.Errorf("%s: the result is %s, %v, after %d questions", tool, result, err, asked)
				}
			}
		})
	}
}
