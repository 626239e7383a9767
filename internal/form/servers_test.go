package form_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/form"
)

// The schemas of tools as widespread servers have them become forms without JSON.
func TestFormsOfWidespreadServers(t *testing.T) {
	for _, tt := range []struct{ name, schema, want string }{
		{"a graph's entities", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["entities"],"additionalProperties":false,"properties":{"entities":{"type":"array","items":{"type":"object","required":["name","entityType","observations"],"additionalProperties":false,"properties":{"name":{"type":"string"},"entityType":{"type":"string"},"observations":{"type":"array","items":{"type":"string"}}}}}}}`, `
list entities "entities" required +
`},
		{"edits of a file", `{"type":"object","required":["path","edits"],"properties":{"path":{"type":"string"},"edits":{"type":"array","minItems":1,"items":{"type":"object","required":["oldText","newText"],"properties":{"oldText":{"type":"string"},"newText":{"type":"string"}}}},"dryRun":{"type":"boolean","default":false}}}`, `
control path "path" string required
list edits "edits" required +
  group edits/0 "edit 1"
    control edits/0/oldText "oldText" string text required
    control edits/0/newText "newText" string text required
control dryRun "dryRun" boolean
`},
		{"numbers, an enum and a resource", `{"type":"object","required":["a","messageType"],"properties":{"a":{"type":"number"},"messageType":{"type":"string","enum":["error","success","debug"]},"includeImage":{"type":"boolean","default":true},"resourceId":{"type":"integer","minimum":1,"maximum":100},"steps":{"type":"number","default":5}}}`, `
control a "a" number required
control messageType "messageType" string 3 choices required
control includeImage "includeImage" boolean = ["on"]
control resourceId "resourceId" integer
control steps "steps" number = ["5"]
`},
		{"a code host's issue", `{"type":"object","required":["owner","title"],"properties":{"owner":{"type":"string"},"title":{"type":"string"},"body":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}},"state":{"type":"string","enum":["open","closed"]},"files":{"type":"array","items":{"type":"object","required":["path","content"],"properties":{"path":{"type":"string"},"content":{"type":"string"}}}},"page":{"type":"number","minimum":1}}}`, `
control owner "owner" string required
control title "title" string required
control body "body" string text
list labels "labels" +
control state "state" string 2 choices
list files "files" +
control page "page" number
`},
		{"Python's optional arguments", `{"type":"object","title":"searchArguments","required":["query"],"properties":{"query":{"title":"Query","type":"string"},"limit":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null,"title":"Limit"},"filter":{"anyOf":[{"$ref":"#/$defs/Filter"},{"type":"null"}],"default":null},"tags":{"default":[],"items":{"type":"string"},"title":"Tags","type":"array"},"by":{"$ref":"#/$defs/Order","default":"name"}},"$defs":{"Order":{"enum":["name","date"],"title":"Order","type":"string"},"Filter":{"title":"Filter","type":"object","properties":{"since":{"title":"Since","type":"string","format":"date"}}}}}`, `
control query "Query" string text required
control limit "Limit" integer
group filter "Filter" +
list tags "Tags" +
control by "Order" string 2 choices = ["name"]
`},
		{"unions that a member tells apart", `{"type":"object","required":["action"],"properties":{"action":{"anyOf":[{"type":"object","required":["type","x"],"properties":{"type":{"type":"string","const":"click"},"x":{"type":"number"}}},{"type":"object","required":["type","text"],"properties":{"type":{"type":"string","const":"type"},"text":{"type":"string"}}}]}}}`, `
choice action "action" required 0 of ["click" "type"]
  group action "click" required
    control action/type "type" string 1 choices required = ["click"]
    control action/x "x" number required
`},
		{"no arguments", `{"type":"object","properties":{}}`, "\n"},
	} {
		p := form.ForSchema(schema(t, tt.schema).Document()).Defaults()
		if got := outline(p); got != tt.want[1:] {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want[1:])
		}
		if strings.Contains(outline(p), "json ") {
			t.Errorf("%s has parts that are JSON", tt.name)
		}
	}
}
