package upstream

import (
	"net/url"
	"strings"
	"testing"
)

func TestAddressesThatPeopleAreSentTo(t *testing.T) {
	qs := &questions{isOwnAddress: func(u *url.URL) bool { return u.Host == "own.example" }}
	for address, want := range map[string]string{
		"https://example.com/a?b=c#d": "https://example.com/a?b=c#d", "http://[::1]:3000/x": "http://[::1]:3000/x", "http://127.0.0.1:1/": "http://127.0.0.1:1/",
		"https://bücher.example/x": "https://xn--bcher-kva.example/x",
		"javascript:alert(1)":      "", "file:///etc/passwd": "", "https://": "", "": "", "https://user@example.com/": "", "https://good.com\\@evil.com/": "",
		"https://example.com/\u202e": "", "https://exam\u200bple.com/": "", "https://example.com/\n": "", "http://127.1:3008/": "", "http://0x7f.1/": "", "http://2130706433/": "",
		"https://own.example/login": "", "https://xn--\u0430/": "", "https://xn--a-.example/": "",
	} {
		got, _, refused := qs.checkURL(address)
		if got != want || (refused != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", address, got, refused, want)
		}
	}
	got, warning, refused := qs.checkURL("https://\u0430pple.com:8443/login") // a Cyrillic letter
	if refused != nil || got != "https://xn--pple-43d.com:8443/login" || !strings.Contains(warning, "xn--pple-43d.com") {
		t.Errorf("a look-alike: %s, %q, %v", got, warning, refused)
	}
	if _, warning, _ := qs.checkURL("https://xn--pple-43d.com/"); !strings.Contains(warning, "\u0430pple.com") {
		t.Errorf("in ASCII: %q", warning)
	}
}
