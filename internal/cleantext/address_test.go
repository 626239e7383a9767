package cleantext_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/cleantext"
)

func TestAddressCautions(t *testing.T) {
	for address, want := range map[string]string{
		"https://id.example.com/a?b":      "",
		"https://id.example.com:443/":     "",
		"https://id.example.com:8443/":    "unusual port, 8443",
		"http://id.example.com/":          "not encrypted",
		"https://good.example@evil.test/": "The site is evil.test.",
		"https://xn--bd-mja.example/":     "look like others",
		"https://bäd.example/":            "look like others",
		"https://203.0.113.9/":            "a number instead of a name",
		"https://[2001:db8::1]:8443/":     "a number instead of a name",
		"https://3405803785/":             "a number instead of a name",
		"https://0xcb.0x7109/":            "a number instead of a name",
		"http://127.0.0.1:3008/":          "on the machine whose browser",
		"http://[::ffff:127.0.0.1]/":      "on the machine whose browser",
		"http://localhost:3008/":          "on the machine whose browser",
		"javascript:alert(1)":             "",
		"https://7eleven.example/":        "",
	} {
		got := strings.Join(cleantext.AddressCautions(address), " ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", address, got)
		}
	}
}
