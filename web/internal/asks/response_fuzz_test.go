package asks

import (
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
)

// FuzzDecodeResponse checks that a body is either rejected or a response to one question
// with one outcome.
func FuzzDecodeResponse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `null`, `"x"`, `{"jsonrpc":"2.0","id":"a.1","result":{"action":"accept","content":{"x":1}}}`,
		`{"jsonrpc":"2.0","id":"a.1","error":{"code":1,"message":"no"}}`, `{"jsonrpc":"2.0","id":null,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"a.1","result":null,"error":null}`,
		`{"jsonrpc":"2.0","id":"a.1","method":"ping"}`, `{"jsonrpc":"2.0","id":"a.1","result":{"action":3}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := decodeResponse(body)
		if err != nil {
			if err.Error() == "" {
				t.Error("a refusal without words")
			}
			return
		}
		if m.ID == nil || *m.ID == "" {
			t.Error("accepted without an id")
		}
		a, err := m.toAnswer(askdata.KindText)
		if m.Result == nil && (err != nil || a.Action != askdata.Cancel) {
			t.Error("an error that does not cancel")
		}
	})
}
