package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/mcp/catalogue"
)

// A tool of another server that has a view keeps it, with all that it declares of it; one
// that has none gets Beam's, in which its questions are asked.
func TestViewsOfUpstreams(t *testing.T) {
	source := weather()
	source.Call = func(_ context.Context, yield generators.Yield, r catalogue.Request) (json.RawMessage, error) {
		city, err := ask.Text(yield, "city", "Which city?")
		return fmt.Appendf(nil, `{"content":[{"type":"text","text":%q}],"structuredContent":{"warm":true}}`, "It rains in "+city), err
	}
	s, catalogue := newUpstreamServer(t, appConfig(), source)
	plain := strings.Replace(weatherTool[:strings.Index(weatherTool, `,"_meta"`)]+"}", "get.weather", "plain", 1)
	hidden := `{"name":"hidden","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}`
	if left := catalogue.SetTools("weather", rawList(weatherTool, plain, hidden)); left != nil {
		t.Fatal(left)
	}
	for _, version := range appVersions {
		c := s.connectApp(t, operator, version, showsApps)
		list := c.send("tools/list", `{}`)
		own := strings.NewReplacer(`"get.weather"`, `"weather__get_weather"`, "ui://view/", "ui://weather/view/").Replace(weatherTool)
		own = own[:strings.Index(own, `,"outputSchema"`)] + own[strings.Index(own, `,"annotations"`):]
		for _, want := range []string{own, strings.Replace(hidden, "hidden", "weather__hidden", 1)} {
			if !strings.Contains(list, want) {
				t.Errorf("%s: the tools are\n%s\nwant\n%s", version, list, want)
			}
		}
		if strings.Contains(list, "outputSchema") || strings.Count(list, `"ui/resourceUri":"ui://beam/run-`) != 2 { // and beam_resume
			t.Errorf("%s: the tools are %s", version, list)
		}
		run, question := c.askWith("weather__plain", `{"city":"x","days":1}`)
		c.act(run, "accept", fmt.Sprintf(`,"ask":%q,"values":{"city":["Oslo"]}`, question))
		if got := c.tool(mcp.ResumeTool, fmt.Sprintf(`{"run":%q}`, run)); !strings.Contains(got.raw, "It rains in Oslo") {
			t.Errorf("%s: the model gets %s", version, got.raw)
		}
		linked := c.tool("weather__get_weather", `{"city":"x","days":1}`)
		if linked.IsError || linked.Structured.Run != "" || !strings.Contains(linked.raw, "Answer at: "+pagesOrigin) {
			t.Errorf("%s: a tool with a view of its own returns %s", version, linked.raw)
		}
		// Its view, which gets this result, can't answer for the person.
		handle := regexp.MustCompile(`[0-9a-f]{32}`).FindString(linked.raw)
		q := c.tool(apps.ReadTool, fmt.Sprintf(`{"run":%q}`, handle)).Structured.Questions
		if len(q) != 1 || strings.Contains(q[0].HTML, "<button") {
			t.Fatalf("%s: Beam's view of it shows %+v", version, q)
		}
		for _, action := range []string{"accept", "decline", "cancel"} {
			if got := c.act(handle, action, fmt.Sprintf(`,"ask":%q,"values":{"city":["Oslo"]}`, q[0].ID)); !strings.Contains(got.Structured.Error, "signed in") {
				t.Errorf("%s: %s returns %s", version, action, got.raw)
			}
		}
		if strings.Contains(c.tool(apps.ReadTool, `{}`).raw, run) {
			t.Errorf("%s: a run is guessed", version)
		}
	}
}
