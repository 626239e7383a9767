package assets

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/photon-beam/beam/static"
)

func mapFS(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

func newSet(t *testing.T, pairs ...string) *Set {
	t.Helper()
	set, err := New(mapFS(pairs...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func serve(set *Set, method, url string, header ...string) *http.Response {
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	set.ServeHTTP(w, r)
	return w.Result()
}

func TestURL(t *testing.T) {
	set := newSet(t, "a.css", "a{}", "vendor/b.js", "let b")
	for name, want := range map[string]string{
		"a.css":       "/static/a.5f546eb4606b5c2b.css",
		"vendor/b.js": "/static/vendor/b.819ed8b411d82655.js",
		"b.js":        "",
		"":            "",
	} {
		if got := set.URL(name); got != want {
			t.Errorf("URL(%q) = %q, want %q", name, got, want)
		}
		if got := set.Has(name); got != (want != "") {
			t.Errorf("Has(%q) = %v", name, got)
		}
	}
}

func TestNewAddsMore(t *testing.T) {
	set, err := New(mapFS("a.css", "a{}"), map[string]string{"vendor/b.js": "let b"})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.URL("vendor/b.js"); got != "/static/vendor/b.819ed8b411d82655.js" {
		t.Errorf("the URL is %q", got)
	}
}

func TestServe(t *testing.T) {
	script := strings.Repeat("let again;\n", 100)
	set := newSet(t, "a.js", script, "a.txt", "short", "a.svg", "<svg/>")
	hashed := set.URL("a.js")
	for _, c := range []struct {
		name, method, url, accept string
		status                    int
		contentType, encoding     string
	}{
		{"plain", "GET", hashed, "", 200, "text/javascript; charset=utf-8", ""},
		{"gzip", "GET", hashed, "br, gzip", 200, "text/javascript; charset=utf-8", "gzip"},
		{"gzip by weight", "GET", hashed, "GZIP ; Q=0.5", 200, "text/javascript; charset=utf-8", "gzip"},
		{"gzip refused", "GET", hashed, "gzip;q=0.0, *", 200, "text/javascript; charset=utf-8", ""},
		{"gzip garbled", "GET", hashed, "gzip;q=much", 200, "text/javascript; charset=utf-8", ""},
		{"no gain in gzip", "GET", set.URL("a.txt"), "gzip", 200, "text/plain; charset=utf-8", ""},
		{"svg", "GET", set.URL("a.svg"), "", 200, "image/svg+xml", ""},
		{"head", "HEAD", hashed, "gzip", 200, "text/javascript; charset=utf-8", "gzip"},
		{"no hash", "GET", "/static/a.js", "", 404, "text/plain; charset=utf-8", ""},
		{"wrong hash", "GET", "/static/a.0000000000000000.js", "", 404, "text/plain; charset=utf-8", ""},
		{"another's hash", "GET", strings.Replace(hashed, ".js", ".txt", 1), "", 404, "text/plain; charset=utf-8", ""},
		{"folder", "GET", "/static/", "", 404, "text/plain; charset=utf-8", ""},
		{"post", "POST", hashed, "", 405, "text/plain; charset=utf-8", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp := serve(set, c.method, c.url, "Accept-Encoding", c.accept)
			h := resp.Header
			if resp.StatusCode != c.status {
				t.Fatalf("the status is %d, want %d", resp.StatusCode, c.status)
			}
			if got := h.Get("Content-Type"); got != c.contentType {
				t.Errorf("Content-Type is %q, want %q", got, c.contentType)
			}
			if got := h.Get("Content-Encoding"); got != c.encoding {
				t.Errorf("Content-Encoding is %q, want %q", got, c.encoding)
			}
			if got := h.Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options is %q", got)
			}
			if got, want := h.Get("Cache-Control") != "", c.status == 200; got != want {
				t.Errorf("Cache-Control is %q", h.Get("Cache-Control"))
			}
		})
	}
}

func TestServeBody(t *testing.T) {
	script := strings.Repeat("let again;\n", 100)
	set := newSet(t, "a.js", script)

	plain, err := io.ReadAll(serve(set, "GET", set.URL("a.js")).Body)
	if err != nil || string(plain) != script {
		t.Errorf("the plain body is %q, %v", plain, err)
	}
	zipped := serve(set, "GET", set.URL("a.js"), "Accept-Encoding", "gzip")
	r, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if unzipped, err := io.ReadAll(r); err != nil || string(unzipped) != script {
		t.Errorf("the unzipped body is %q, %v", unzipped, err)
	}
	if got := zipped.Header.Get("Vary"); got != "Accept-Encoding" {
		t.Errorf("Vary is %q", got)
	}
	head := serve(set, "HEAD", set.URL("a.js"))
	if body, _ := io.ReadAll(head.Body); len(body) != 0 || head.Header.Get("Content-Length") != "1100" {
		t.Errorf("HEAD answers %q with Content-Length %s", body, head.Header.Get("Content-Length"))
	}
}

func TestAssetsHaveOneStylesheet(t *testing.T) {
	set := Pages()
	sheet, err := io.ReadAll(serve(set, "GET", set.URL("beam.css")).Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(sheet), "@import") {
		t.Error("a part is loaded by a request of its own")
	}
	files, _ := static.Files()
	parts, err := fs.ReadDir(files, "css")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		part, err := fs.ReadFile(files, "css/"+p.Name())
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(sheet), string(cssComment.ReplaceAll(part, nil))); n != 1 {
			t.Errorf("%s is in the stylesheet %d times", p.Name(), n)
		}
	}
	layers := regexp.MustCompile(`@layer (\w+) \{`).FindAllStringSubmatch(string(sheet), -1)
	var order []string
	for _, l := range layers {
		order = append(order, l[1])
	}
	if got := strings.Join(slices.Compact(order), ", "); !strings.Contains(string(sheet), "@layer "+got+";") {
		t.Errorf("the layers come as %s, which is not the order that is declared first", got)
	}
}

func TestAssets(t *testing.T) {
	set := Pages()
	if !set.Has("icons/beam.svg") {
		t.Error("there is no icon")
	}
	if resp := serve(set, "GET", set.URL("icons/beam.svg")); resp.StatusCode != 200 {
		t.Errorf("the icon answers %s", resp.Status)
	}
}
