package markup

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
)

func renderHTML(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	for source, want := range map[string]string{
		"# a\n\n### b\n\n# c":                "<h2>a</h2>\n<h3>b</h3>\n<h2>c</h2>\n",
		"#### deep":                          "<h2>deep</h2>\n",
		"<b>raw</b> & <script>x</script>":    "<p>raw &amp; x</p>\n",
		"![alt](data:image/png;base64,aaaa)": "<p>alt</p>\n",
		"![](https://e.example/x.png)":       `<p><a href="https://e.example/x.png" rel="nofollow noreferrer noopener" target="_blank">image</a></p>` + "\n",
		"[x](javascript:alert(1)) [y](/runs/1) [z](mailto:a@b.example)": `<p>x y <a href="mailto:a@b.example" rel="nofollow noreferrer">z</a></p>` + "\n",
		"www.example.com":           `<p><a href="http://www.example.com" rel="nofollow noreferrer noopener" target="_blank">www.example.com</a></p>` + "\n",
		"`<a data-on:click=\"x\">`": "<p><code>&lt;a data-on:click=&#34;x&#34;&gt;</code></p>\n",
		"- [x] done\n- [ ] open":    "<ul>\n<li>☑ done</li>\n<li>☐ open</li>\n</ul>\n",
		"~~no~~ **yes**":            "<p><del>no</del> <strong>yes</strong></p>\n",
		"3. three":                  "<ol start=\"3\">\n<li>three</li>\n</ol>\n",
		"    indented <code>":       `<pre class="code" tabindex="0"><code>indented &lt;code&gt;</code></pre>`,
		"```nolanguage\nx < y\n```": `<pre class="code" tabindex="0"><code>x &lt; y</code></pre>`,
	} {
		got, err := markdownHTML([]byte(source))
		if err != nil || string(got) != want {
			t.Errorf("%q:\n%s\nwant\n%s (%v)", source, got, want, err)
		}
	}
}

func TestLongMarkdownIsShownAsSource(t *testing.T) {
	got := renderHTML(t, Markdown([]byte(strings.Repeat("> ", maxMarkdown))))
	if !strings.HasPrefix(got, `<pre class="code"`) {
		t.Errorf("it is %.60s", got)
	}
}

func TestCodeIsBounded(t *testing.T) {
	began := time.Now()
	for name, source := range map[string]string{
		"long":      strings.Repeat("x := 1 // y\n", 100_000),
		"one line":  strings.Repeat("(((((", 20_000),
		"backtrack": strings.Repeat("a\"'`", 400) + "\n" + strings.Repeat("/*", 900),
	} {
		got := renderHTML(t, Code("go", []byte(source)))
		if len(got) > 40*len(source) {
			t.Errorf("%s: %d bytes are shown as %d", name, len(source), len(got))
		}
		if name == "long" && !strings.Contains(got, "not shown") {
			t.Error("it doesn't say that there is more")
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
