package store_test

import (
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// BenchmarkAskAndAnswer appends a question and its answer, each on its own.
func BenchmarkAskAndAnswer(b *testing.B) {
	for name, sync := range map[string]store.Sync{"interval": store.SyncInterval, "default": store.SyncDefault, "always": store.SyncAlways} {
		b.Run(name, func(b *testing.B) {
			s := openStore(b, store.Options{Dir: b.TempDir(), Sync: sync})
			startRun(b, s, "run", runlog.Started{Photon: "p", Owner: "ada"})
			question := &askdata.Question{Kind: askdata.KindText, Message: "Who?", Fields: askdata.Fields{{Name: "name", Type: "string", Required: true}}}
			seq := uint64(1)
			for b.Loop() {
				for _, e := range []runlog.Entry{
					runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "who", Question: question}),
					runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: seq + 1, Answer: askdata.Answer{Action: askdata.Accept, Content: []byte(`{"name":"Ada"}`)}}),
				} {
					e.Time = time.Now()
					var err error
					if seq, err = s.Append(b.Context(), "run", seq, e); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
