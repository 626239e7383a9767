package form_test

import (
	"encoding/json"
	"testing"

	"github.com/photon-beam/beam/internal/form"
)

// BenchmarkCheck checks an answer to a form with every rule.
func BenchmarkCheck(b *testing.B) {
	fields := allFields()
	content := json.RawMessage(`{"name":"Ada","airport":"TXL","mail":"ada@example.org","clock":"18:30","day":"2026-05-02","share":0.5,"titled":"d","many":["a","b"],"sure":true}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fields.Check(content); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRequestedSchema(b *testing.B) {
	fields := allFields()
	b.ReportAllocs()
	for b.Loop() {
		if len(form.RequestedSchema(fields)) == 0 {
			b.Fatal("no content")
		}
	}
}
