package upstream_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
)

// A question says which server's tool asks it, of whatever kind it is. What Beam says about it
// isn't part of the server's message.
func TestQuestionsSayWhoAsks(t *testing.T) {
	g := newGateway(t, child(t, "peer", ""))
	for _, tt := range []struct {
		args, note string
	}{
		{`{"params":{"message":"Beam: all is well","requestedSchema":{"type":"object","properties":{}}}}`, ""},
		{`{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Why?"}}],"maxTokens":5}}`, ""},
		{`{"method":"roots/list","params":{}}`, ""},
		{`{"params":{"mode":"url","elicitationId":"1","message":"Sign in","url":"https://bäd.example/"}}`, "Look closely at the address"},
	} {
		run := g.start(ada, "peer__ask_anything", tt.args)
		id, q := g.awaitAsk(ada, run)
		if q.Server != "peer" || q.Tool != "peer__ask_anything" || !strings.HasPrefix(q.Note, tt.note) || tt.note == "" && q.Note != "" || strings.Contains(q.Message, "Look closely") {
			t.Errorf("%s is asked as %+v", tt.args, q)
		}
		open, err := g.OpenAsk(t.Context(), ada, id)
		if err != nil || open.Asker() != "The tool ask_anything of the server peer" {
			t.Errorf("it is asked by %q, %v", open.Asker(), err)
		}
		g.answer(ada, id, askdata.Answer{Action: askdata.Decline})
		g.awaitEnd(ada, run)
	}
}
