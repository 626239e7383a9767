package mcp_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
)

// A client whose streams break off calls beam_resume again and again. The server does
// not remember the questions that it sent on those streams.
func TestQuestionsOfDisconnectedCallsAreForgotten(t *testing.T) {
	r := newLinkingServer(t, wordPhoton)
	v := newHTTPClient(t, r.startHTTPServer(t).URL, "2025-11-25", `{"elicitation":{}}`)
	started, err := r.engine.Start(t.Context(), operator, engine.StartRequest{Photon: "word"})
	if err != nil {
		t.Fatal(err)
	}
	resume := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"beam_resume","arguments":{"run":%q}}}`, id, started.ID)
	}
	const n = 5
	for i := range n {
		ctx, cut := context.WithCancel(t.Context())
		gone := *v
		gone.ctx = ctx
		if e := gone.readEvents(gone.postMessage(resume(i)))(); !strings.Contains(e.data, "Which word?") {
			t.Fatalf("resuming returns %s, want the question", e.data)
		}
		cut()
		for under := 1; under > 0; { // until that is noticed
			v.postMessage(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).Body.Close()
			under, _ = r.CountPending()
		}
	}
	if _, asked := r.CountPending(); asked != n {
		t.Errorf("%d questions are remembered, and the client may answer any of %d", asked, n)
	}
	r.answerInBrowser(t, askdata.Accept, `{"word":"fish"}`)
	res := v.postMessage(resume(n))
	defer res.Body.Close()
	if raw, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(raw), "fish") {
		t.Errorf("resuming returns %s, %v", raw, err)
	}
	if _, asked := r.CountPending(); asked != 0 {
		t.Errorf("%d questions are remembered, and although all are settled", asked)
	}
}
