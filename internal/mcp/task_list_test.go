package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
)

type taskPage struct {
	Result struct {
		Tasks []struct {
			ID string `json:"taskId"`
		} `json:"tasks"`
		Next string `json:"nextCursor"`
	} `json:"result"`
}

// An identified caller sees all of its own tasks, each once, page by page, and no
// others.
func TestTasksAreListedToTheirOwner(t *testing.T) {
	const n = 250
	r := newTestServer(t, taskPhoton("word", ""))
	mine := map[string]bool{}
	for range n {
		info, err := r.engine.Start(t.Context(), operator, engine.StartRequest{Photon: "word", Surface: "mcp task"})
		if err != nil {
			t.Fatal(err)
		}
		mine[info.ID] = true
	}
	for who, surface := range map[string]string{"token": "mcp task", "operator": "browser"} {
		if _, err := r.engine.Start(t.Context(), generators.Caller{ID: who}, engine.StartRequest{Photon: "word", Surface: surface}); err != nil {
			t.Fatal(err)
		}
	}
	w := r.connectStdio(t)
	w.initialize("2025-11-25", `{}`)
	var sizes []int
	cursor := ""
	for more := true; more; more = cursor != "" {
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tasks/list","params":{"cursor":%q}}`, cursor)
		var page taskPage
		if err := json.Unmarshal([]byte(w.awaitResponse(1)), &page); err != nil {
			t.Fatal(err)
		}
		sizes, cursor = append(sizes, len(page.Result.Tasks)), page.Result.Next
		for _, task := range page.Result.Tasks {
			if !mine[task.ID] {
				t.Errorf("the list has %s twice, or it is not mine", task.ID)
			}
			delete(mine, task.ID)
		}
	}
	if fmt.Sprint(sizes) != "[100 100 50]" || len(mine) != 0 {
		t.Errorf("the pages have %v tasks, and %d are missing", sizes, len(mine))
	}
	for _, cursor := range []string{"x", "====", "MTIz", "LjAwMA"} {
		w.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tasks/list","params":{"cursor":%q}}`, cursor)
		if got := w.awaitResponse(2); jsonMember(t, got, "error", "code") != "-32602" || !strings.Contains(got, "cursor") {
			t.Errorf("the cursor %q gets the response %s", cursor, got)
		}
	}
}

// Over HTTP, a bearer token identifies the caller. A client that can merely reach the
// address gets no list, only the tasks that it names.
func TestTasksAreListedToIdentifiedCallers(t *testing.T) {
	r := newTaskServer(t, taskPhoton("word", generators.TaskOptional))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		who := operator
		if q.Header.Get("Authorization") != "" {
			who = generators.Caller{ID: "token"}
		}
		r.ServeHTTP(w, q, who, pagesOrigin)
	}))
	t.Cleanup(s.Close)
	v := newHTTPClient(t, s.URL, "2025-11-25", `{}`)
	create := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"word","task":{}}}`
	list := `{"jsonrpc":"2.0","id":2,"method":"tasks/list"}`
	v.requestJSON(create)
	if got := v.requestJSON(list); jsonMember(t, got, "error", "code") != "-32601" {
		t.Errorf("a list for anybody gets the response %s", got)
	}
	token := []string{"Authorization", "Bearer s3cret"}
	v = &httpClient{t: t, url: s.URL, ctx: t.Context()}
	response := v.postMessage(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"v","version":"1"}}}`, token...)
	response.Body.Close()
	v.session = response.Header.Get("Mcp-Session-Id")
	created := v.requestJSON(create, token...)
	got := v.requestJSON(list, token...)
	id := jsonMember(t, created, "result", "taskId")
	if n := strings.Count(got, `"taskId"`); n != 1 || !strings.Contains(got, id) {
		t.Errorf("the bearer's list is %s, want their one task", got)
	}
}
