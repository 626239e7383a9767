package ask_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

// Every kind of question can show artifacts, in order. The question keeps a copy.
func TestShowing(t *testing.T) {
	body := []byte("a,b")
	file := generators.File("data.csv", "text/csv", body)
	show := ask.Showing(generators.Code("plan", "sql", "SELECT 1"), file)
	for kind, q := range map[string]*askdata.Question{
		"text":   questionOf(t, ask.ForText("k", "m", show)),
		"secret": questionOf(t, ask.ForSecret("k", "m", show)),
		"form":   questionOf(t, ask.ForForm[struct{ Name string }]("k", "m", show)),
		"file":   questionOf(t, ask.ForFiles("k", "m", show)),
		"url":    questionOf(t, ask.ForURL("k", "m", "https://example.org", show)),
	} {
		if len(q.Evidence) != 2 || q.Evidence[0].Title != "plan" || string(q.Evidence[1].Body) != "a,b" || q.Evidence[1].Size != 3 {
			t.Errorf("a %s question shows %+v", kind, q.Evidence)
		}
	}
	q := questionOf(t, ask.ForText("k", "m", show, ask.Showing(generators.Markdown("more", "text"))))
	if body[0] = 'X'; len(q.Evidence) != 3 || string(q.Evidence[1].Body) != "a,b" {
		t.Errorf("two options show %+v", q.Evidence)
	}
}

func TestShowingRefuses(t *testing.T) {
	half := generators.File("f", "text/plain", bytes.Repeat([]byte("x"), (1<<20)/2+1))
	for want, opts := range map[string][]ask.Option{
		"shows artifacts, not a *generators.StatusEvent": {ask.Showing(generators.Status("s"))},
		"shows artifacts, not a <nil>":                   {ask.Showing(nil)},
		"more than 1048576 bytes":                        {ask.Showing(half), ask.Showing(half)},
		"row 1 has 2 values, but the table has 1 column": {ask.Showing(generators.TableOf("t", generators.Table{Columns: []string{"name"}, Rows: [][]any{{"Bob", 1_000_000}}}))},
	} {
		_, err := runAsk(t, Driver{Provider: acceptAll(`{"k":"v"}`)}, func(yield generators.Yield) (string, error) {
			return ask.Text(yield, "k", "m", opts...)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
