package passthrough_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// innerVariable makes the test program a Beam that serves innerPhotons over stdio. The
// address that signs a browser in is written to the file that it names.
const innerVariable = "BEAM_TEST_INNER"

func TestMain(m *testing.M) {
	if os.Getenv(innerVariable) != "" {
		serveInner()
		return
	}
	os.Exit(m.Run())
}

func serveInner() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		var b *beam.Beam
		if b, err = beam.New(beam.Config{Photons: innerPhotons(), URL: "http://" + l.Addr().String()}); err == nil {
			go http.Serve(l, b)
			err = os.WriteFile(os.Getenv(innerVariable), []byte(b.SignInURL()), 0o600)
		}
		if err == nil {
			err = b.ServeStdio(context.Background(), os.Stdin, os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// An order is a form with titled choices.
type order struct {
	Size string `json:"size" title:"Size" enum:"s,l" enumTitles:"Small,Large"`
	Name string `json:"name" title:"For whom?" minLength:"2"`
}

// innerPhotons are tools that ask in all ways.
func innerPhotons() []*generators.Photon {
	return []*generators.Photon{
		generators.New("confirm", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
			yield(generators.Progress(1, 2, "halfway"))
			ok, err := ask.Confirm(yield, "ok", "Overwrite the file?", ask.Showing(generators.Diff("The change", "old line\n", "new line\n")))
			return fmt.Sprint("overwritten: ", ok), err
		}, nil),
		generators.New("form", func(_ context.Context, _ struct{}, yield generators.Yield) (order, error) {
			return ask.Form[order](yield, "order", "What shall it be?")
		}, nil),
		generators.New("choice", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
			return ask.Select(yield, "size", "Which size?", []ask.Choice{{Value: "s", Title: "Small"}, {Value: "l", Title: "Large"}})
		}, nil),
		generators.New("secret", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
			word, err := ask.Secret(yield, "word", "The password?")
			return fmt.Sprintf("%d characters", len(word)), err
		}, nil),
	}
}

// newChain returns a Beam whose upstream is another Beam, over HTTP or stdio, and a
// browser that is signed in to the other.
func newChain(t *testing.T, overStdio bool) (gateway, *http.Client) {
	t.Helper()
	server := map[string]any{}
	var address func() string
	if overStdio {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "sign-in")
		server["command"], server["env"] = program, map[string]string{innerVariable: file}
		address = func() string { raw, _ := os.ReadFile(file); return string(raw) }
	} else {
		inner := newGateway(t, beam.Config{Photons: innerPhotons()})
		server["url"], address = inner.url+"/mcp", inner.SignInURL
	}
	g := newGateway(t, beam.Config{Upstreams: []string{configFile(t, map[string]any{"inner": server})}})
	return g, signIn(t, address())
}

// answerOnPage answers a question on the page at an address, as its form does.
func answerOnPage(t *testing.T, browser *http.Client, page, key, value string) {
	t.Helper()
	u, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	id := u.Path[strings.LastIndex(u.Path, "/")+1:]
	post := "http://" + u.Host + "/mcp/request?ask=" + url.QueryEscape(id) + "&action=accept"
	r, err := browser.PostForm(post, url.Values{key: {value}})
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode >= 400 {
		t.Errorf("answering at %s: %s", page, r.Status)
	}
}

// Through two Beams, the person is asked as by one: with titled choices, with what the
// question shows, and for a secret on the page of the Beam that needs it.
func TestAChainOfTwoBeams(t *testing.T) {
	for _, overStdio := range []bool{false, true} {
		g, browser := newChain(t, overStdio)
		for _, version := range []string{v20251125, v20260728} {
			for _, stdioClient := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, stdio %v and %v", version, overStdio, stdioClient), func(t *testing.T) {
					p := &person{}
					p.answer = func(q *mcp.ElicitParams) *mcp.ElicitResult {
						if q.Mode == "url" {
							answerOnPage(t, browser, q.URL, "word", "open sesame")
							return &mcp.ElicitResult{Action: "accept"}
						}
						return agree(q)
					}
					s := g.connect(t, clientOptions{version: version, forms: true, urls: true, stdio: stdioClient}, p)
					for tool, want := range map[string]string{
						"inner__confirm": "overwritten: true", "inner__form": `{"size":"s","name":"Ada"}`, "inner__choice": "s", "inner__secret": "11 characters",
					} {
						_, text := call(t, s, tool, nil)
						if text != want {
							t.Errorf("%s returns %q, want %q", tool, text, want)
						}
						raw, _ := json.Marshal(p.takeAsked())
						for _, shown := range map[string][]string{
							"inner__confirm": {"Overwrite the file?", "old line", "new line"}, "inner__form": {`"title":"Small"`, `"minLength":2`},
							"inner__choice": {`"title":"Large"`}, "inner__secret": {`"mode":"url"`, "The password?"},
						}[tool] {
							if !strings.Contains(string(raw), shown) {
								t.Errorf("%s: the client was asked %s, without %s", tool, raw, shown)
							}
						}
						if strings.Contains(string(raw), "sesame") {
							t.Errorf("the secret travels: %s", raw)
						}
					}
				})
			}
		}
	}
}
