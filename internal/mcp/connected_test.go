package mcp_test

import (
	"testing"

	"github.com/photon-beam/beam/generators"
)

// Each client with a session is listed for its caller and for operators, under its own
// name, over both transports.
func TestConnectedClients(t *testing.T) {
	b := newTestServer(t)
	connected := func(caller generators.Caller) map[string]string {
		list := map[string]string{}
		b.EachClient(caller, func(name, transport string, awaited int) {
			if awaited != 0 {
				t.Errorf("%s has %d requests to respond to", name, awaited)
			}
			list[transport] = name
		})
		return list
	}
	if list := connected(operator); len(list) != 0 {
		t.Errorf("before anyone connects: %v", list)
	}
	b.connectStdio(t).initialize("2025-11-25", "{}")
	newHTTPClient(t, b.startHTTPServer(t).URL, "2025-11-25", "{}")
	if list := connected(operator); list["over stdio"] != "wire" || list["over HTTP"] != "v" {
		t.Errorf("connected: %v", list)
	}
	if list := connected(generators.Caller{ID: "stranger"}); len(list) != 0 {
		t.Errorf("a stranger sees %v", list)
	}
}
