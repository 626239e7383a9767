package appview

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// maxDocument is the size of the document, in bytes: hosts load it for each call.
const maxDocument = 60_000

// The document is one file, and uses nothing that a host's policy forbids.
func TestDocument(t *testing.T) {
	html, digest := new(Views).Document()
	if len(html) > maxDocument || !apps.IsAddress(apps.Address(digest)) {
		t.Errorf("it has %d bytes and the digest %q", len(html), digest)
	}
	for _, forbidden := range []string{
		`\beval\(`, `new Function`, `\bfetch\(`, `XMLHttpRequest`, `WebSocket`, `EventSource`, `localStorage`, `sessionStorage`, `indexedDB`, `document\.cookie`,
		`\balert\(`, `\bconfirm\(`, `\bprompt\(`, `window\.open\(`, `<form`, `\bsubmit\(`, `<iframe`, `@import`, `<link`, `src=`, `\bimport\(`, `showModal`, `window\.top`,
	} {
		if found := regexp.MustCompile(forbidden).FindString(html); found != "" {
			t.Errorf("it has %q", found)
		}
	}
	for _, address := range regexp.MustCompile(`https?://[^\s'"\x60)]+`).FindAllString(html, -1) {
		if address != "http://www.w3.org/2000/svg" {
			t.Errorf("it names %s", address)
		}
	}
	if started := strings.Index(html, `"ui/initialize"`); started < strings.LastIndex(html, "\nhandlers[") || started < strings.LastIndex(html, "\naddEventListener(") {
		t.Error("it is introduced to the host before it handles messages")
	}
	if strings.Count(html, "<script>") != 1 || strings.Count(html, "</script>") != 1 || strings.Contains(html, "{{") {
		t.Error("it isn't assembled right")
	}
}

// run starts a photon, and returns once its first question is open.
func run(t *testing.T, f generators.Func[struct{}, string]) (v *Views, id string) {
	t.Helper()
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	registry, err := registry.NewRegistry(generators.New("show", f, &generators.Options{Asks: true}))
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Photons: registry, Log: runlog.NewMemory(), Blobs: blobs})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var err error
		stopped := func() bool { err = e.Close(ctx); return err == nil } // within two seconds, unless the machine stands still
		if programtest.Poll(stopped); err != nil {
			t.Error(err)
		}
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	info, err := e.Start(t.Context(), person, engine.StartRequest{Photon: "show", Surface: "mcp"})
	if err != nil {
		t.Fatal(err)
	}
	for len(info.Asks) == 0 && !info.State.Ended() {
		if info, err = e.Info(person, info.ID); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	return New(e), info.ID
}

var person = generators.Caller{ID: "ada"}

// What a person or a tool has written is text, wherever it stands.
func TestHostileTextInChat(t *testing.T) {
	const hostile = `"><script>x</script><img src=x onerror=x>` + "\r\ndata: x"
	v, id := run(t, func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.Status(hostile))
		yield(generators.Progress(1, 2, hostile))
		yield(generators.TableOf(hostile, generators.Table{Columns: []string{hostile}, Rows: [][]any{{hostile}}}))
		yield(generators.Markdown(hostile, hostile))
		return ask.Select(yield, "pick", hostile, []ask.Choice{{Value: hostile, Title: hostile}}, ask.Title(hostile), ask.Showing(generators.Code(hostile, "html", hostile)))
	})
	s, err := v.Render(t.Context(), person, apps.Reading{Run: id, Base: "https://beam.example"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) == 0 || len(s.Questions) != 1 || s.Progress == "" {
		t.Fatalf("it shows %+v", s)
	}
	for _, html := range append([]string{s.Progress, s.Questions[0].HTML}, htmls(s.Rows)...) {
		if strings.Contains(html, "<script") || strings.Contains(html, "<img") {
			t.Errorf("unescaped: %s", html)
		}
	}
}

func htmls(rows []apps.Fragment) (all []string) {
	for _, r := range rows {
		all = append(all, r.HTML)
	}
	return all
}

// Pictures are part of the document; what is too large is linked.
func TestPicturesAndLargeRows(t *testing.T) {
	dot, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	v, id := run(t, func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		yield(generators.Image("Dot", "image/png", dot))
		yield(generators.Image("Large", "image/png", append(dot, make([]byte, 300<<10)...)))
		for n := range 150 {
			yield(generators.Status(fmt.Sprint("step ", n)))
		}
		return ask.Text(yield, "a", "A?", ask.Showing(generators.Image("Dot", "image/png", append(dot, make([]byte, 300<<10)...))))
	})
	s, err := v.Render(t.Context(), person, apps.Reading{Run: id, Base: "https://beam.example"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) != maxRows || s.Dropped < 50 {
		t.Errorf("%d rows, %d dropped", len(s.Rows), s.Dropped)
	}
	if !strings.Contains(s.Questions[0].HTML, "too large to show") || strings.Contains(s.Questions[0].HTML, "<img") {
		t.Errorf("the question has %s", s.Questions[0].HTML)
	}
	early, err := v.Render(t.Context(), person, apps.Reading{Run: id, After: s.Seq, Base: "https://beam.example"})
	if err != nil || len(early.Rows) != 0 || len(early.Questions) != 1 || early.Questions[0].HTML != "" {
		t.Errorf("nothing newer is %+v, %v", early, err)
	}
}
