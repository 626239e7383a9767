package mcp_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
)

// FuzzElicitationResponse checks that any elicitation-response is either recorded, or
// refused with an error that names what is wrong, and that the task still exists.
func FuzzElicitationResponse(f *testing.F) {
	for _, s := range []string{
		`{"elicitationId":"ASK","action":"accept","content":{"size":4}}`, `{"elicitationId":"ASK","action":"accept","content":{"size":"x"}}`,
		`{"elicitationId":"ASK","action":"decline"}`, `{"elicitationId":"ASK.1","action":7}`, `{"elicitationId":null}`, `[]`, `null`, `""`, `{"content":null}`,
	} {
		f.Add([]byte(s))
	}
	r := newTestServer(f, askingPhoton("number", ask.ForNumber("size", "How many?")))
	w := r.connectStdio(f)
	w.initialize("2025-11-25", `{}`)
	task := w.createTask(1, "number")
	f.Fuzz(func(t *testing.T, response []byte) {
		w.t = t
		var line bytes.Buffer
		if json.Compact(&line, response) != nil {
			t.Skip("it is no JSON")
		}
		got := w.sendElicitationResponse(2, task, strings.ReplaceAll(line.String(), "ASK", task+".3"))
		switch {
		case strings.Contains(got, `"result":{"taskId":"`+task+`","status":"`):
		case strings.Contains(got, `"error":{"code":-32602,"message":"_meta[\"io.modelcontextprotocol/elicitation-response\"]`):
		default:
			t.Errorf("%s gets the response %s", response, got)
		}
	})
}
