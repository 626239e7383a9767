package client_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestListKeepsWhatTheServerWrote(t *testing.T) {
	const tool = `{"zeta":1,"name":"t","inputSchema":{"type":"object","properties":{"b":{},"a":{"x-unknown":[1e400,"\u00e9"]}},"$defs":{}},"_meta":{"k":9007199254740993}}`
	s := connect(t, serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := readMessage(r)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case m.Method == "server/discover":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`, m.ID)
		case rawMember(m.Params, "cursor") == nil:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s],"nextCursor":"2"}}`, m.ID, tool)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"u"}],"nextCursor":null}}`, m.ID)
		}
	})), nil)
	tools, err := s.List(t.Context(), "tools/list", "tools", 10)
	if err != nil || len(tools) != 2 || string(tools[0]) != tool {
		t.Errorf("the tools are %s, %v", tools, err)
	}
}

func TestListIsBounded(t *testing.T) {
	for options, want := range map[string]string{
		"cyclic cursors": "repeats a cursor",
		"endless list":   "more than 1000 pages",
		"million tools":  "more than 10000 tools",
		"die in list":    "the process ended: exit status 7",
	} {
		t.Run(options, func(t *testing.T) {
			s := connect(t, serveRaw(t, options), nil)
			if _, err := s.List(t.Context(), "tools/list", "tools", 10_000); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %q in it", err, want)
			}
		})
	}
}
