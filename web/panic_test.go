package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/web/identity"
)

func burnDown() { panic("disk on fire in /srv/secret-place") }

// An operator sees what a tool panicked with, and where. Others, MCP clients, and whoever gets
// an export are told only that it did.
func TestPanicIsShownToOperators(t *testing.T) {
	m := newTeam(t, identity.NewKeys(), "")
	err := m.photons.Add(generators.New("burn", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		if ok, err := ask.Confirm(yield, "go", "Light it?"); err != nil || !ok {
			return "", err
		}
		burnDown()
		return "", nil
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	ada, dev := m.signInAs("ada"), m.signInAs("dev")
	run := ada.startRun("burn", "{}")
	ada.answerRPC(ada.waitForAsk(run, 1), acceptResult(`{"go":true}`))
	readText(t, ada.request("GET", run.Events, ""))
	get := func(p *browserSession, path string, headers ...string) string {
		return readText(t, p.request("GET", path, "", headers...))
	}
	for what, shown := range map[string]struct {
		text     string
		operator bool
	}{
		"the operator's page":   {get(dev, run.URL, "Accept", "text/html"), true},
		"the operator's stream": {get(dev, run.Events, "Datastar-Request", "true"), true},
		"the operator's rows":   {get(dev, run.URL+"?after=1", "Accept", "text/html"), true},
		"the operator's log":    {get(dev, run.URL+"/log"), true},
		"the owner's page":      {get(ada, run.URL, "Accept", "text/html"), false},
		"the owner's stream":    {get(ada, run.Events, "Datastar-Request", "true"), false},
		"the owner's log":       {get(ada, run.URL+"/log"), false},
		"the owner's JSON":      {get(ada, run.URL, "Accept", "application/json"), false},
		"the messages":          {get(dev, run.Events), false},
		"the operator's JSON":   {get(dev, run.URL, "Accept", "application/json"), false},
		"the HTML that is sent": {get(dev, run.URL+"/export?format=html"), false},
		"the JSON that is sent": {get(dev, run.URL+"/export?format=json"), false},
		"the list":              {get(dev, "/runs", "Accept", "text/html"), false},
	} {
		for _, detail := range []string{"disk on fire in /srv/secret-place", "web_test.burnDown", "panic_test.go"} {
			if strings.Contains(shown.text, detail) != shown.operator {
				t.Errorf("%s: %q is there: %t. It is %s", what, detail, !shown.operator, shown.text)
			}
		}
		if !strings.Contains(shown.text, "it panicked") {
			t.Errorf("%s doesn't say that it panicked: %s", what, shown.text)
		}
	}
}
