package message_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// Addresses of user interfaces are mapped however they are written, and nothing else is.
func TestMapUIAddresses(t *testing.T) {
	mapUI := func(address string) string {
		scheme, rest, _ := message.CutUIScheme(address)
		return scheme + "s/" + rest
	}
	for in, want := range map[string]string{
		`{"uri":"ui://x"}`:        `{"uri":"ui://s/x"}`,
		`{"uri":"UI://X"}`:        `{"uri":"UI://s/X"}`,
		`{"uri":"\u0075i:\/\/x"}`: `{"uri":"ui://s/x"}`,
		`{"uri":"ui\u003a//x"}`:   `{"uri":"ui://s/x"}`,
		`{"ui":{"resourceUri":"Ui://x"},"a":[{"uri":"ui://y"}]}`: `{"ui":{"resourceUri":"Ui://s/x"},"a":[{"uri":"ui://s/y"}]}`,
		`{"text":"ui://x","uri":"gui://x"}`:                      `{"text":"ui://x","uri":"gui://x"}`,
		`{"uri":"https://x"}`:                                    `{"uri":"https://x"}`,
	} {
		if got := string(message.MapUIAddresses(json.RawMessage(in), mapUI)); got != want && strings.ReplaceAll(got, `\/`, "/") != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}
