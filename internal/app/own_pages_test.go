package app

import (
	"net/url"
	"testing"
)

func TestOwnPages(t *testing.T) {
	var o ownPages
	o.add("http://127.0.0.1:3008")
	o.add("https://example.com/beam/")
	o.add("")
	for address, want := range map[string]bool{
		"http://127.0.0.1:3008/login?code=x": true, "http://localhost:3008/": true, "http://[::1]:3008": true, "http://x.localhost:3008/a": true, "http://0.0.0.0:3008/": true,
		"http://127.0.0.1:3009/": false, "http://127.0.0.1/": false, "https://example.com/": false, "https://example.com/beamer": false,
		"https://example.com/beam": true, "https://EXAMPLE.com.:443/x/%2e%2e/beam/login": true, "https://example.org/beam/": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.has(u); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}
