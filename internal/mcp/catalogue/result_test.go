package catalogue_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// run runs a tool of an upstream that returns result.
func run(t *testing.T, result string) *beamtest.Outcome {
	t.Helper()
	c, registry := newCatalogue(t)
	put(c, source("s", result), named("t"))
	p, _ := registry.Lookup("s__t")
	return beamtest.Run(t, p, nil, nil)
}

// describe lists the artifacts of a run as MEDIA-TYPE TITLE: BODY.
func describe(o *beamtest.Outcome) string {
	var b strings.Builder
	for _, e := range o.Events {
		switch e := e.(type) {
		case *generators.Artifact:
			b.WriteString(e.MediaType + " " + e.Title + ": " + string(e.Body) + "\n")
		case *generators.StatusEvent:
			b.WriteString(string(e.Level) + ": " + e.Text + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestBlocksOfAResultAreArtifacts(t *testing.T) {
	for _, tt := range []struct{ name, result, artifacts, value string }{
		{"nothing", `{"content":[]}`, "", "null"},
		{"a text", `{"content":[{"type":"text","text":"a\nb"}]}`, "", `"a\nb"`},
		{"Markdown", `{"content":[{"type":"text","text":"# Title\n\nText"}]}`, "", `"# Title\n\nText"`},
		{"JSON", `{"content":[{"type":"text","text":" {\"a\": 1}"}]}`, "", `{"a":1}`},
		{"texts", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "text/plain Text: a\ntext/plain Text: b", "null"},
		{"an image", `{"content":[{"type":"image","data":"R0lGODlh","mimeType":"image/gif"}]}`, "image/gif Image: GIF89a", "null"},
		{"an image that is none", `{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`, "application/octet-stream Image: hi", "null"},
		{"a table that is none", `{"content":[{"type":"resource","resource":{"uri":"x:1","mimeType":"application/vnd.beam.table+json","text":"{\"columns\":[\"a\"],\"rows\":[[1,2]]}"}}]}`,
			`application/octet-stream x:1: {"columns":["a"],"rows":[[1,2]]}`, "null"},
		{"a sound", `{"content":[{"type":"audio","data":"aGk","mimeType":"audio/wav; rate=8000"}]}`, "audio/wav Audio: hi", "null"},
		{"not base64", `{"content":[{"type":"image","data":"?","mimeType":"image/png"}]}`,
			`application/json Part that can't be decoded: {"type":"image","data":"?","mimeType":"image/png"}`, "null"},
		{"a resource", `{"content":[{"type":"resource","resource":{"uri":"file:///a.go","mimeType":"text/x-go","text":"package a"}}]}`,
			"text/x-go file:///a.go: package a", "null"},
		{"a blob", `{"content":[{"type":"resource","resource":{"uri":"x:1","blob":"aGk="}}]}`, "application/octet-stream x:1: hi", "null"},
		{"a link", `{"content":[{"type":"resource_link","uri":"https://a.example/x?y=1","name":"a*b","description":"<b>"}]}`,
			"text/markdown Link: a\\*b: <https://a.example/x?y=1>\n\n\\<b\\>", "null"},
		{"a link that is none", `{"content":[{"type":"resource_link","uri":"javascript:alert(1)","name":"a"}]}`, "text/markdown Link: a: `javascript:alert(1)`", "null"},
		{"an unknown kind", `{"content":[{"type":"video","data":"…"}, 7]}`,
			"application/json Part of an unknown kind: {\"type\":\"video\",\"data\":\"…\"}\napplication/json Part of an unknown kind: 7", "null"},
		{"structured", `{"content":[{"type":"text","text":"{\"b\":2, \"a\":1}"}],"structuredContent":{"a":1,"b":2}}`, "", `{"a":1,"b":2}`},
		{"structured and more", `{"content":[{"type":"text","text":"Two things"}],"structuredContent":[1,2]}`, "text/plain Text: Two things", `[1,2]`},
	} {
		o := run(t, tt.result)
		if got := describe(o); got != tt.artifacts || string(o.Result) != tt.value || o.Err != nil {
			t.Errorf("%s:\n%s\n%s, %v, want\n%s\n%s", tt.name, got, o.Result, o.Err, tt.artifacts, tt.value)
		}
	}
}

func TestAnErrorResultFailsTheRun(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tt := range []struct{ name, result, artifacts, err string }{
		{"a text", `{"content":[{"type":"text","text":"no such file"}],"isError":true}`, "", "no such file"},
		{"texts", `{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"b"}],"isError":true}`,
			"application/octet-stream Image: hi", "a\n\nb"},
		{"a long text", `{"content":[{"type":"text","text":"` + long + `"}],"isError":true}`, "text/plain Text: " + long, long},
		{"nothing", `{"content":[],"isError":true}`, "", "the tool reported an error, and said nothing about it"},
		{"no result", `7`, "", "the server returned a result that is not an object"},
		{"no list", `{"content":"a"}`, "", "the server returned a result that has not the form of a tool's"},
	} {
		o := run(t, tt.result)
		if got := describe(o); got != tt.artifacts || o.Err == nil || o.Err.Error() != tt.err {
			t.Errorf("%s:\n%.100s\n%.100v, want\n%.100s\n%.100s", tt.name, got, o.Err, tt.artifacts, tt.err)
		}
	}
}

func TestAResultOfManyBlocksIsBounded(t *testing.T) {
	o := run(t, `{"content":[`+strings.Repeat(`{"type":"text","text":"a"},`, 600)+`{"type":"text","text":"b"}]}`)
	if got := describe(o); strings.Count(got, "\n") != 500 || !strings.HasSuffix(got, "warning: The result has 101 more parts than are shown") {
		t.Errorf("%d lines, the last of which is …%s", strings.Count(got, "\n"), got[len(got)-80:])
	}
}
