package upstream

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/upstream/config"
)

// Messages have no secret of the configuration, however the server writes it.
func TestMessagesHaveNoSecretsOfTheConfiguration(t *testing.T) {
	const secret = `s3cr/et<"tok&én`
	u := &Upstream{server: config.Server{Secrets: []string{secret}}}
	var escaped strings.Builder
	for _, c := range secret {
		escaped.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
	}
	for name, raw := range map[string]string{
		"as Go writes it": `{"id":1,"result":{"text":"it is s3cr/et\u003c\"tok\u0026én"}}`,
		"unescaped":       `{"id":1,"result":{"text":"it is s3cr/et<\"tok&én"}}`,
		"slashes escaped": `{"id":1,"result":{"text":"it is s3cr\/et<\"tok&\u00e9n"}}`,
		"all escaped":     `{"id":1,"result":{"text":"it is ` + escaped.String() + `"}}`,
		"a name":          `{"id":1,"result":{"it is s3cr/et<\"tok&én" : 1}}`,
		"no JSON":         `it is ` + secret,
	} {
		got := string(u.maskSecrets([]byte(raw)))
		if json.Valid([]byte(raw)) != json.Valid([]byte(got)) || !strings.Contains(got, "it is ***") {
			t.Errorf("%s: the message is %s", name, got)
		}
	}
}
