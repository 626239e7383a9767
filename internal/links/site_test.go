package links

import (
	"strings"
	"testing"
)

func TestParseSite(t *testing.T) {
	for raw, want := range map[string]Site{
		"":                                {},
		"/":                               {},
		"/beam":                           {Path: "/beam"},
		"/a/b-c/":                         {Path: "/a/b-c"},
		"https://tools.example":           {Origin: "https://tools.example"},
		"https://Tools.example:443/beam/": {Origin: "https://tools.example", Path: "/beam"},
		"http://tools.example:80":         {Origin: "http://tools.example"},
		"http://localhost:3008/x/v1.2":    {Origin: "http://localhost:3008", Path: "/x/v1.2"},
		"http://[::1]:3008":               {Origin: "http://[::1]:3008"},
		"http://192.0.2.1":                {Origin: "http://192.0.2.1"},
		"https://xn--bcher-kva.example":   {Origin: "https://xn--bcher-kva.example"},
		"http://my_host:8080":             {Origin: "http://my_host:8080"},
	} {
		if got, err := ParseSite(raw); err != nil || got != want {
			t.Errorf("%q is %+v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{
		"beam", "tools.example/beam", "//tools.example/beam", "ftp://tools.example", "https://", "https:///beam", "mailto:a@b.example",
		"/beam?x=1", "/beam?", "/beam#top", "/beam#", "https://me@tools.example", "/a//b", "/../beam", "/a/./b", "/a%2Fb", "/a b", `/a\b`, "/a'b", "/bé", "https://tools.example/%",
		"https://tools.example:", "https://tools.example:0", "https://tools.example:080", "https://tools.example:123456", "https://*.example", `https://a"><b>/`, "https://a,b", "https://$(x)",
		"https://bücher.example", "https://tools.example.", "https://.example", "https://[fe80::1%25eth0]", "https://a%20b", "/" + strings.Repeat("a", 1000),
	} {
		if got, err := ParseSite(raw); err == nil {
			t.Errorf("%q is %+v", raw, got)
		}
	}
}

func TestParseHost(t *testing.T) {
	for raw, want := range map[string]string{
		"Tools.example": "tools.example", "my_host": "my_host", "192.0.2.7": "192.0.2.7", "2001:DB8::1": "2001:db8::1", "[::1]": "::1",
	} {
		if got, err := ParseHost(raw); err != nil || got != want {
			t.Errorf("%q is %q, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "https://tools.example", "tools.example/x", "tools.example:8080", "[::1]:8080", "*.example", "a b"} {
		if got, err := ParseHost(raw); err == nil {
			t.Errorf("%q is %q", raw, got)
		}
	}
}

func TestSite(t *testing.T) {
	s := Site{Origin: "https://tools.example:8443", Path: "/beam"}
	base, ok := s.Base()
	if base != "https://tools.example:8443/beam" || !ok || !s.Secure() || s.Host() != "tools.example" {
		t.Errorf("base %q, %t, secure %t, host %q", base, ok, s.Secure(), s.Host())
	}
	if base, ok := (Site{Path: "/beam"}).Base(); ok || base != "" {
		t.Errorf("the base of a path alone is %q", base)
	}
	for path, want := range map[string]string{"/beam": "", "/beam/": "/", "/beam/runs": "/runs"} {
		if got, ok := s.Strip(path); got != want || !ok {
			t.Errorf("%s is %q, %t", path, got, ok)
		}
	}
	for _, path := range []string{"/", "/runs", "/beamer", "/a/beam"} {
		if got, ok := s.Strip(path); got != path || ok {
			t.Errorf("%s is %q, %t", path, got, ok)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "192.0.2.1": false, "example.com": false, "localhost.example": false,
	} {
		if IsLoopback(host) != want {
			t.Errorf("%q: %t", host, !want)
		}
	}
}
