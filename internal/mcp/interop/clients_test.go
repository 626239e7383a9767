package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	june2025     = "2025-06-18"
	november2025 = "2025-11-25"
	july2026     = "2026-07-28"
)

var versions = []string{june2025, november2025, july2026}

// connected is a client of one library, over one transport, in one version.
type connected struct {
	client
	library library
	version string
	host    *host // nil over stdio
	console *console
	person  *person

	signingIn sync.Mutex
	browser   *http.Client
}

// desk is where the client's person answers on Beam's pages.
func (c *connected) desk(ctx context.Context) (*desk, error) {
	c.signingIn.Lock()
	defer c.signingIn.Unlock()
	if c.host != nil {
		c.browser = c.host.browser
	}
	if c.browser == nil { // the sign-in address is used up at once
		var err error
		if c.browser, err = signIn(ctx, c.console); err != nil {
			return nil, err
		}
	}
	return &desk{c.browser}, nil
}

// everywhere runs a test with a client of every library, over both transports,
// in every version.
func everywhere(t *testing.T, persona func() *person, test func(t *testing.T, ctx context.Context, c *connected)) {
	t.Helper()
	h := serve(t)
	t.Run("with", func(t *testing.T) { // ends before the host does
		for _, l := range libraries {
			for _, transport := range []string{"stdio", "http"} {
				for _, version := range versions {
					t.Run(l.name+"/"+transport+"/"+version, func(t *testing.T) {
						t.Parallel()
						c := &connected{library: l, version: version, console: newConsole(), person: persona()}
						if transport == "http" {
							c.host = h
						}
						c.client = l.dial(t, c.host, c.console, version, c.person)
						ctx, cancel := context.WithTimeout(t.Context(), patience)
						defer cancel()
						test(t, ctx, c)
					})
				}
			}
		}
	})
}

func everything() *person {
	return &person{forms: true, urls: true, sampling: true, roots: true, elicit: fill}
}

func args(name string) map[string]any { return map[string]any{"name": name} }

// settled calls a tool that asks, and holds its outcome against what it should
// be, as JSON.
func (c *connected) settled(t *testing.T, ctx context.Context, tool string, arguments map[string]any, want string) {
	t.Helper()
	r, err := c.call(ctx, tool, arguments, nil)
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return
	}
	if r.IsError || !sameJSON(string(r.Structured), want) {
		t.Errorf("%s: the result is %s %s, want %s", tool, r.text(), r.Structured, want)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// refused calls a tool that has to fail with words that contain all of want.
// Before 2026-07-28 that is a result, and may be an error from then on.
func (c *connected) refused(t *testing.T, ctx context.Context, tool string, want ...string) {
	t.Helper()
	r, err := c.call(ctx, tool, nil, nil)
	var said string
	switch {
	case err != nil && c.version != july2026:
		t.Errorf("%s: %v, want a result", tool, err)
		return
	case err != nil:
		said = err.Error()
	case !r.IsError:
		t.Errorf("%s succeeded with %s", tool, r.Structured)
		return
	default:
		said = r.text()
	}
	if c.library.name == "mcp-go" && c.version == july2026 && strings.HasPrefix(said, "missing required client capability") {
		return // it has words of its own for -32021, without the capability
	}
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("%s failed with %q, want it to say %q", tool, said, w)
		}
	}
}

func TestClients(t *testing.T) {
	everywhere(t, everything, func(t *testing.T, _ context.Context, c *connected) {
		for _, k := range []struct {
			name string
			test func(*testing.T, context.Context, *connected)
		}{
			{"every kind of question", everyKind}, {"answered on the page, then agreed", pagesFirst}, {"agreed, then answered on the page", pagesLast},
			{"decline and cancel", noAnswer}, {"invalid answers", invalidAnswers}, {"a question's time runs out", timesOut},
			{"calls are given up", giveUp}, {"calls at once", atOnce}, {"progress", progressAll}, {"results", results},
		} {
			t.Run(k.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				c.person.questions()
				c.person.elicit = fill
				c.person.hear(nil)
				k.test(t, ctx, c)
			})
		}
	})
}

func everyKind(t *testing.T, ctx context.Context, c *connected) {
	for tool, value := range map[string]string{
		"text": `"Ada"`, "confirm": `true`, "select": `"pear"`, "select_titled": `"g"`,
		"multiselect": `["apple","plum"]`, "multiselect_titled": `["r","b"]`, "number": `2.5`, "integer": `7`,
		"date": `"2026-05-17T00:00:00Z"`, "datetime": `"2026-05-17T12:30:00Z"`,
		"form":   `{"name":"Ada","mail":"ada@example.com","age":36,"plan":"pro"}`,
		"sample": `"Paris (oracle)"`, "roots": `["file:///srv/data"]`, "all": `"Ada true Paris"`, "rounds": `"Ada 7"`,
	} {
		c.settled(t, ctx, tool, nil, `{"outcome":"accepted","value":`+value+`}`)
	}
}

// Passwords, files, and what is open until it is done travel by URL only, and
// are answered on Beam's page.
func pagesFirst(t *testing.T, ctx context.Context, c *connected) { pages(t, ctx, c, true) }
func pagesLast(t *testing.T, ctx context.Context, c *connected)  { pages(t, ctx, c, false) }

func pages(t *testing.T, ctx context.Context, c *connected, first bool) {
	if c.version == june2025 {
		for _, tool := range []string{"secret", "file", "url", "url_done"} {
			c.refused(t, ctx, tool, "elicitation.url")
		}
		return
	}
	var tool string
	c.person.elicit = func(ctx context.Context, q question) (answer, error) {
		if q.Mode != "url" || q.Schema != nil {
			return answer{}, fmt.Errorf("%s was asked by a %s with the schema %v", tool, q.Mode, q.Schema)
		}
		desk, err := c.desk(ctx)
		if err != nil {
			return answer{}, err
		}
		if first {
			return accept(nil), desk.complete(ctx, tool, q.URL)
		}
		go func() {
			if err := desk.complete(context.WithoutCancel(ctx), tool, q.URL); err != nil {
				t.Error(err)
			}
		}()
		return accept(nil), nil
	}
	for _, k := range []struct{ tool, value string }{
		{"secret", `"7 characters"`}, {"file", `"notes.txt: hello"`}, {"url_done", `true`},
	} {
		tool = k.tool
		c.settled(t, ctx, tool, nil, `{"outcome":"accepted","value":`+k.value+`}`)
		for _, q := range c.person.questions() {
			if strings.Contains(q.URL, "example.com") {
				t.Errorf("%s was asked at %s, want Beam's page", tool, q.URL)
			}
			break
		}
	}
	c.person.elicit = func(_ context.Context, q question) (answer, error) {
		if q.URL != "https://example.com/sign-in" {
			return answer{}, fmt.Errorf("the URL is %s", q.URL)
		}
		return accept(nil), nil
	}
	c.settled(t, ctx, "url", nil, `{"outcome":"accepted","value":true}`)
}

func noAnswer(t *testing.T, ctx context.Context, c *connected) {
	tools := []string{"text", "confirm", "multiselect", "form", "rounds"}
	if c.version != june2025 {
		tools = append(tools, "secret", "url", "url_done")
	}
	for _, tool := range tools {
		c.person.elicit = decline
		c.settled(t, ctx, tool, nil, `{"outcome":"declined"}`)
		c.person.elicit = dismiss
		c.settled(t, ctx, tool, nil, `{"outcome":"cancelled"}`)
	}
}

// An answer that does not fit is asked for again, saying why, three times at
// most.
func invalidAnswers(t *testing.T, ctx context.Context, c *connected) {
	const hint = "must be three capital letters"
	var tries []string
	c.person.elicit = func(context.Context, question) (answer, error) {
		said := tries[0]
		tries = tries[1:]
		return accept(map[string]any{"code": said}), nil
	}
	tries = []string{"x", "LH", "LHR"}
	c.settled(t, ctx, "code", nil, `{"outcome":"accepted","value":"LHR"}`)
	asked := c.person.questions()
	if len(asked) != 3 {
		t.Fatalf("it was asked %d times, want 3", len(asked))
	}
	for i, q := range asked {
		if again := strings.Contains(q.Message, hint); again != (i > 0) || !strings.HasPrefix(q.Message, "Which airport?") {
			t.Errorf("question %d says %q", i+1, q.Message)
		}
	}
	tries = []string{"x", "y", "z"}
	c.refused(t, ctx, "code", "did not fit", hint)
	if len(tries) > 0 || len(c.person.questions()) != 3 {
		t.Errorf("the answers %q were not asked for", tries)
	}
}

// Nothing is asked that the client did not declare. The error names what it
// lacks.
func TestMissingCapabilities(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		everywhere(t, func() *person { return &person{} }, func(t *testing.T, ctx context.Context, c *connected) {
			c.refused(t, ctx, "text", "elicitation")
			c.refused(t, ctx, "secret", "elicitation.url")
			c.refused(t, ctx, "sample", "sampling")
			c.refused(t, ctx, "roots", "roots")
			c.refused(t, ctx, "all", "the capability")
		})
	})
	t.Run("forms", func(t *testing.T) {
		everywhere(t, func() *person { return &person{forms: true, elicit: fill} }, func(t *testing.T, ctx context.Context, c *connected) {
			for _, tool := range []string{"secret", "file", "url", "url_done"} {
				c.refused(t, ctx, tool, "elicitation.url")
			}
			if asked := c.person.questions(); asked != nil {
				t.Errorf("it was asked all the same: %v", asked)
			}
			c.settled(t, ctx, "text", nil, `{"outcome":"accepted","value":"Ada"}`)
		})
	})
	t.Run("urls", func(t *testing.T) {
		everywhere(t, func() *person { return &person{urls: true, elicit: decline} }, func(t *testing.T, ctx context.Context, c *connected) {
			c.refused(t, ctx, "text", "elicitation")
			if asked := c.person.questions(); asked != nil {
				t.Errorf("it was asked all the same: %v", asked)
			}
		})
	})
}

// A question whose own time runs out is withdrawn.
func timesOut(t *testing.T, ctx context.Context, c *connected) {
	withdrawn := make(chan struct{})
	c.person.elicit = func(ctx context.Context, _ question) (answer, error) {
		if c.version == july2026 || c.library.name == "mcp-go" { // which tells its handler nothing
			return accept(map[string]any{"text": "too late"}), nil
		}
		<-ctx.Done()
		close(withdrawn)
		return answer{}, ctx.Err()
	}
	if c.version == july2026 || c.library.name == "mcp-go" {
		t.Skip("its handler is not told; see the tests of the wire")
	}
	c.settled(t, ctx, "hurried", nil, `{"outcome":"timeout"}`)
	select {
	case <-withdrawn:
	case <-ctx.Done():
		t.Error("the question was not withdrawn")
	}
}

// A client that gives a call up stops the generator, whose defers run.
func giveUp(t *testing.T, ctx context.Context, c *connected) {
	if c.library.noCancel && c.host != nil && c.version != july2026 {
		t.Skip("the library tells nobody")
	}
	begun := make(chan struct{}, 1)
	c.person.hear(func(progress) { begun <- struct{}{} })
	c.abort(t, ctx, "slow", begun)

	over := make(chan struct{})
	defer close(over)
	c.person.elicit = func(ctx context.Context, _ question) (answer, error) {
		begun <- struct{}{}
		select {
		case <-ctx.Done():
		case <-over:
		}
		return answer{Action: "cancel"}, ctx.Err()
	}
	if c.version != july2026 { // from then on it waits for the answer
		c.abort(t, ctx, "slow_ask", begun)
	}
}

// abort gives a call up once it has begun.
func (c *connected) abort(t *testing.T, ctx context.Context, tool string, begun <-chan struct{}) {
	t.Helper()
	name := t.Name() + tool
	call, abort := context.WithCancel(ctx)
	defer abort()
	failed := make(chan error, 1)
	go func() {
		_, err := c.call(call, tool, args(name), name)
		failed <- err
	}()
	select {
	case <-begun:
	case err := <-failed:
		t.Fatalf("%s ended with %v", tool, err)
	case <-ctx.Done():
		t.Fatalf("%s did not begin", tool)
	}
	abort()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%s ended with %v", tool, err)
	}
	if r, err := c.call(ctx, "await", args(name), nil); err != nil || r.text() != name {
		t.Errorf("the defers of %s did not run: %v", tool, err)
	}
}

// What happens at once does not get mixed up.
func atOnce(t *testing.T, ctx context.Context, c *connected) {
	const calls = 20
	var mu sync.Mutex
	told := map[any][]progress{}
	complete := make(chan struct{})
	left := calls * 6
	c.person.hear(func(p progress) {
		mu.Lock()
		defer mu.Unlock()
		told[p.Token] = append(told[p.Token], p)
		if left--; left == 0 {
			close(complete)
		}
	})
	var together sync.WaitGroup
	together.Add(calls)
	c.person.elicit = func(ctx context.Context, q question) (answer, error) {
		name, _ := strings.CutPrefix(q.Message, "Say ")
		together.Done()
		if c.library.name == "go-sdk" || c.version == july2026 { // mcp-go asks one after the other
			together.Wait()
		}
		return accept(map[string]any{"text": name}), nil
	}
	var done sync.WaitGroup
	for i := range calls {
		done.Go(func() {
			name := fmt.Sprint("caller-", i)
			r, err := c.call(ctx, "echo", args(name), name)
			if err != nil || !sameJSON(string(r.Structured), fmt.Sprintf(`{"outcome":"accepted","value":"%[1]s=%[1]s"}`, name)) {
				t.Errorf("%s got %+v %v", name, r, err)
			}
		})
	}
	done.Wait()
	select {
	case <-complete:
	case <-ctx.Done():
		t.Error("progress was lost")
	}
	mu.Lock()
	defer mu.Unlock()
	for token, list := range told {
		for i, p := range list {
			if p.Message != token || i > 0 && p.Progress <= list[i-1].Progress {
				t.Errorf("the call %v was told %+v", token, list)
				break
			}
		}
	}
}

// Of 500 notifications none is lost, and none is out of order.
func progressAll(t *testing.T, ctx context.Context, c *connected) {
	const steps = 500
	var told []float64
	complete := make(chan struct{})
	c.person.hear(func(p progress) {
		if p.Token == "steps" && p.Total == steps {
			told = append(told, p.Progress)
		}
		if len(told) == steps {
			close(complete)
		}
	})
	if _, err := c.call(ctx, "progress", map[string]any{"count": steps}, "steps"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-complete:
	case <-ctx.Done():
		t.Fatal("progress was lost")
	}
	if !slices.IsSorted(told) || told[0] != 1 || told[steps-1] != steps {
		t.Errorf("progress is out of order: %v", told)
	}
}

func results(t *testing.T, ctx context.Context, c *connected) {
	names, err := c.tools(ctx)
	if c.library.name == "mcp-go" && c.version == july2026 {
		names, err = []string{"multiselect_titled"}, nil // it can't read an output schema with two types
	}
	if err != nil || !slices.Contains(names, "multiselect_titled") {
		t.Errorf("the tools are %v, %v", names, err)
	}
	for _, k := range []struct{ tool, text, structured, modern string }{
		{"string", "a string", `{"result":"a string"}`, `"a string"`},
		{"array", "[1,2,3]", `{"result":[1,2,3]}`, `[1,2,3]`},
		{"object", `{"x":1,"y":2}`, `{"x":1,"y":2}`, `{"x":1,"y":2}`},
	} {
		want := k.structured
		if c.version == july2026 {
			want = k.modern
		}
		r, err := c.call(ctx, k.tool, nil, nil)
		if err != nil || r.IsError || r.text() != k.text || !sameJSON(string(r.Structured), want) {
			t.Errorf("%s returned %+v %v, want %s", k.tool, r, err, want)
		}
	}
	if r, err := c.call(ctx, "fails", nil, nil); err != nil || !r.IsError || r.text() != "the disk is full" {
		t.Errorf("fails returned %+v %v", r, err)
	}
	if r, err := c.call(ctx, "echo", nil, nil); err != nil || !r.IsError || !strings.Contains(r.text(), "/name: is required") {
		t.Errorf("bad arguments returned %+v %v", r, err)
	}
	if _, err := c.call(ctx, "nonesuch", nil, nil); err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("an unknown tool returned %v", err)
	}
	r, err := c.call(ctx, "artifacts", nil, nil)
	var kinds []string
	if err == nil {
		for _, block := range r.Content {
			kinds = append(kinds, block.Type)
		}
	}
	if !slices.Equal(kinds, []string{"text", "image", "resource", "resource", "text"}) {
		t.Errorf("the artifacts are %v, %v", kinds, err)
	}
}
