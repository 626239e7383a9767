package render

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

// Nothing but code and the text of events is wider than the terminal.
func TestNarrow(t *testing.T) {
	for _, width := range []int{80, 40, 20} {
		r := &Renderer{Width: width}
		wide := strings.Repeat("word ", 30)
		rows := [][]any{{wide, json.Number("1"), wide}, {"日本語日本語日本語", json.Number("22"), nil}}
		for name, text := range map[string]string{
			"table": r.table(generators.Table{Columns: []string{"first", "n", "third"}, Rows: rows}),
			"bars":  r.chart(generators.Chart{Kind: generators.Bars, Labels: []string{wide, "b"}, Series: []generators.Series{{Name: wide, Values: []float64{1, 1e6}}}}),
			"lines": r.chart(generators.Chart{Kind: generators.Lines, Labels: make([]string, 500), Series: []generators.Series{{Name: "s", Values: make([]float64, 500)}}}),
			"text":  r.Markdown("# " + wide + "\n\n" + wide + "\n\n> " + wide + "\n\n1. " + wide + "\n\n- " + wide),
		} {
			for line := range strings.Lines(text) {
				if got := ansi.StringWidth(strings.TrimRight(line, "\n")); got > width {
					t.Errorf("%s has %d of %d columns: %q", name, got, width, line)
				}
			}
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := (&Renderer{Width: 40}).Markdown("# Title\n\nSome *text* with `code`,\nand [a link](https://x.example/).\n\n<b>raw</b> <script>x</script>\n\n3. one\n   - two\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n- [x] done\n\n---\n")
	want := "# Title\n\nSome text with code, and a link\n(https://x.example/).\n\nraw x\n\n3. one\n   • two\n\na  b\n1  2\n\n• ☑ done\n\n" + strings.Repeat("─", 40)
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestChart(t *testing.T) {
	r := &Renderer{Width: 20}
	got := r.chart(generators.Chart{Kind: generators.Bars, Labels: []string{"a", "bb", "c"}, Series: []generators.Series{{Values: []float64{4, 2, -1}}}})
	if want := "a  ██████████████ 4\nbb ███████ 2\nc  -1\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := r.chart(generators.Chart{Kind: generators.Lines, Series: []generators.Series{{Values: []float64{math.Inf(1), 1}}, {}}}); got == "" {
		t.Error("no chart")
	}
}

// A request to a model is shown whole: nothing is sent that is neither shown nor named.
func TestSampleIsShownWhole(t *testing.T) {
	request := &ask.SampleRequest{
		SystemPrompt: "Be brief.", MaxTokens: 1000, Temperature: new(0.5), StopSequences: []string{"END"},
		Tools: []json.RawMessage{[]byte(`{"name":"look","inputSchema":{"type":"object"}}`)}, ToolChoice: &ask.ToolChoice{Mode: "required"},
		Messages: []ask.SampleMessage{
			ask.FromUser(ask.TextBlock("What is\u200b this?"), ask.ImageBlock(make([]byte, 2000), "image/png")),
			ask.FromAssistant(ask.SampleBlock{Type: askdata.BlockToolUse, Name: "look", ID: "1", Input: json.RawMessage(`{"at":"it"}`)}),
		},
	}
	r := &Renderer{Width: 60}
	got := r.Sample(request)
	for _, want := range []string{
		"tokens; the reply has at most 1,000)", "system: Be brief.", "user: What is‹U+200B› this? [with characters that are marked]", "user: [a picture, image/png, 2.0 kB: see the page",
		`assistant: [uses the tool look] {"at":"it"}`, `tool: {"name":"look"`, "tools are: required", "temperature: 0.5", `stops at: ["END"]`,
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if !r.Truncated {
		t.Error("it counts as shown whole, though there is a picture")
	}
	for line := range strings.Lines(got) {
		if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > 60 && !strings.HasPrefix(line, "Request") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}
