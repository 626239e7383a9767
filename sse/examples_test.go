package sse_test

import (
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/sse"
)

func TestEveryEntryHasAMessage(t *testing.T) {
	runlogtest.CheckShown(t, map[runlog.Kind]string{
		runlog.KindStarted:  "it is the reader's own request, or one of which it knows the id",
		runlog.KindClaimed:  "which process runs the run is the engine's affair",
		runlog.KindAdopted:  "MCP knows no owner of a request",
		runlog.KindStepped:  "what a step returned is the run's own affair",
		runlog.KindWoken:    "what the run does next is told",
		runlog.KindSampling: "a client gets no text of a reply before it is returned",
	}, func(x runlogtest.Example) func(runlog.Entry) bool {
		render := sse.NewJSONRPCRenderer(t.Context(), sse.JSONRPCRun{ID: "a", PhotonName: "greet", Source: source{base: "http://b", entries: x.Entries}}, 0)
		return func(e runlog.Entry) bool {
			messages, err := render.Render([]runlog.Entry{e})
			if err != nil {
				t.Errorf("%s: entry %d: %v", x.Name, e.Seq, err)
			}
			return len(messages) > 0
		}
	})
}
